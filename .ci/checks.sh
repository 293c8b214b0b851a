# What .ci/run and .ci/long share: programs that some tests need, and checks that are counted when they fail.

# Without these programs tests are skipped with a reason. torchcodec finds FFmpeg's libraries.
programs=(chromium chromium-driver strace fish zsh default-jre-headless ffmpeg)
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && ! dpkg --status "${programs[@]}" >/dev/null 2>&1; then
  timeout 600 sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${programs[*]}" \
    >/dev/null 2>&1 </dev/null || echo 'Some programs could not be installed; the tests that need them are skipped.'
fi

failed=()
check() {
  echo "== $*"
  local start=$SECONDS
  "$@" || failed+=("$*")
  echo "== $((SECONDS - start)) s"
}

finish() {
  if [ "${#failed[@]}" -gt 0 ]; then
    printf 'Failed: %s\n' "${failed[@]}"
    exit 1
  fi
}
