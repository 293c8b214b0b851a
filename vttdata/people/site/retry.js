// Resolves when a request should be tried again: after about so many seconds, or as soon as the network is back.
export function nextAttempt(seconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 1000 * seconds * (0.7 + 0.6 * Math.random()));
    addEventListener("online", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
