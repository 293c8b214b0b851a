"use strict";
(() => {
  const holder = document.getElementById("clips-data");
  const sheet = document.getElementById("clip-sheet");
  if (!holder || !sheet) return;
  const data = JSON.parse(holder.textContent);
  const STEP = matchMedia("(max-width: 500px)").matches ? 12 : 24;
  const MAX_CHUNKS = 40;
  const byId = (name) => document.getElementById(name);
  const [ID, SOURCE, SPLIT, CATEGORY, START, END, PICTURE, CAPTIONS, SHOTS, VIDEO, FILE] = Array(11).keys();
  const isWhole = data.rows.length === data.total;
  const chunks = new Map();
  const waiting = new Map();
  let columns = null;

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const load = (file) =>
    new Promise((resolve, reject) => {
      const script = element("script", { src: `${encodeURIComponent(data.folder)}/${file}` });
      script.addEventListener("load", () => { script.remove(); resolve(); });
      script.addEventListener("error", () => { script.remove(); reject(new Error(`${data.folder}/${file} is not beside this page`)); });
      document.head.append(script);
    });
  const decode = (text, type) => new type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

  window.vttdataReport = {
    chunk: (number, rows) => {
      chunks.set(number, rows);
      if (chunks.size > MAX_CHUNKS) chunks.delete(chunks.keys().next().value);
    },
    index: (texts) => {
      columns = {
        split: decode(texts.split, Int16Array),
        category: decode(texts.category, Int16Array),
        seconds: decode(texts.seconds, Float32Array),
        captions: decode(texts.captions, Uint16Array),
        words: decode(texts.words, Uint16Array),
      };
    },
  };

  const loadChunk = (number) => {
    if (chunks.has(number)) return null;
    if (!waiting.has(number)) {
      const name = `clips-${String(number).padStart(5, "0")}.js`;
      waiting.set(number, load(name).finally(() => waiting.delete(number)));
    }
    return waiting.get(number);
  };
  const getRow = async (number) => {
    if (number < data.rows.length) return data.rows[number];
    const chunk = Math.floor(number / data.chunk);
    await loadChunk(chunk);
    return chunks.get(chunk)[number % data.chunk];
  };
  const getColumns = async () => {
    if (columns) return columns;
    if (isWhole) {
      const of = (type, value) => type.from(data.rows, value);
      columns = {
        split: of(Int16Array, (row) => data.splits.indexOf(row[SPLIT])),
        category: of(Int16Array, (row) => data.categories.indexOf(row[CATEGORY])),
        seconds: of(Float32Array, (row) => (row[END] ?? NaN) - (row[START] ?? NaN)),
        captions: of(Uint16Array, (row) => row[CAPTIONS].length),
        words: of(Uint16Array, (row) => row[CAPTIONS].join(" ").split(/\s+/).length / Math.max(row[CAPTIONS].length, 1)),
      };
    } else await load("index.js");
    return columns;
  };

  let order = null;
  let shown = 0;
  let run = 0;
  const status = byId("clip-status");
  const format = (number) => number.toLocaleString("en");
  const seconds = (row) => (row[START] === null || row[END] === null ? "" : `${(row[END] - row[START]).toFixed(1)} s`);

  const makeCard = (row, number) => {
    const picture = row[PICTURE]
      ? element("span", { className: "frame3" }, element("img", { src: row[PICTURE], alt: "", loading: "lazy", decoding: "async" }))
      : data.pictures ? element("span", { className: "blank", textContent: "no picture" }) : "";
    const button = element(
      "button",
      { type: "button", className: "clip" },
      picture,
      element("b", { textContent: row[ID], dir: "auto" }),
      ...(row[FILE] ? [element("small", { textContent: row[FILE], dir: "auto" })] : []),
      element("small", { textContent: [row[SPLIT], row[CATEGORY], seconds(row), data.captions ? `${row[CAPTIONS].length} captions` : ""].filter(Boolean).join(" · ") }),
      ...row[CAPTIONS].slice(0, row[PICTURE] ? 1 : 3).map((text) => element("span", { textContent: text, className: "caption", dir: "auto" })),
    );
    button.addEventListener("click", () => { location.hash = `clip-${number}`; });
    return element("li", {}, button);
  };
  const showMore = async () => {
    const mine = run;
    const numbers = Array.from({ length: Math.min(STEP, order.length - shown) }, (_, index) => order[shown + index]);
    const rows = [];
    try {
      for (const number of numbers) rows.push([await getRow(number), number]);
    } catch (error) {
      status.textContent = `${error.message}: only the first ${format(data.rows.length)} of ${format(data.total)} clips can be shown.`;
    }
    if (mine !== run) return;
    sheet.append(...rows.map(([row, number]) => makeCard(row, number)));
    shown += rows.length;
    byId("clip-more").hidden = shown >= order.length || rows.length === 0;
  };

  const select = async () => {
    const mine = ++run;
    const value = (name) => byId(`clip-${name}`).value;
    const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
    const split = data.splits.indexOf(value("split"));
    const category = data.categories.indexOf(value("category"));
    const least = parseFloat(value("least"));
    const most = parseFloat(value("most"));
    const key = value("order").replace("-", "");
    const isPlain = !words.length && split < 0 && category < 0 && Number.isNaN(least) && Number.isNaN(most) && !key;
    let total = data.total;
    let numbers;
    try {
      if (isPlain) numbers = { length: total };
      else {
        const have = await getColumns();
        numbers = [];
        for (let number = 0; number < total; number += 1) {
          if (split >= 0 && have.split[number] !== split) continue;
          if (category >= 0 && have.category[number] !== category) continue;
          if (have.seconds[number] < least || have.seconds[number] > most) continue;
          numbers.push(number);
        }
        if (words.length) {
          const matching = [];
          for (const number of numbers) {
            if (mine !== run) return;
            const row = await getRow(number);
            const text = [row[ID], row[SOURCE], row[FILE], ...row[CAPTIONS]].join("\n").toLowerCase();
            if (words.every((word) => text.includes(word))) matching.push(number);
            if (number % data.chunk === 0) status.textContent = `${format(matching.length)} found in ${format(number)} of ${format(total)} …`;
          }
          numbers = matching;
        }
        if (key) {
          const sign = value("order").startsWith("-") ? -1 : 1;
          const column = have[key];
          numbers.sort((a, b) => sign * (column[a] - column[b]) || a - b);
        }
      }
    } catch (error) {
      if (mine === run) status.textContent = `${error.message}; without that folder, the clips cannot be searched or sorted.`;
      return;
    }
    if (mine !== run) return;
    order = isPlain ? new Proxy(numbers, { get: (target, name) => (name === "length" ? total : Number(name)) }) : numbers;
    shown = 0;
    sheet.replaceChildren();
    status.textContent = `${format(order.length)} of ${format(total)} clips`;
    await showMore();
  };

  const view = byId("clip-view");
  const openClip = async () => {
    const match = /^#clip-(\d+)$/.exec(location.hash);
    if (!match || Number(match[1]) >= data.total) return view.close();
    let row;
    try {
      row = await getRow(Number(match[1]));
    } catch (error) {
      status.textContent = error.message;
      return;
    }
    const body = byId("clip-view-body");
    const facts = [
      ["source", row[SOURCE]], ["file", row[FILE]], ["split", row[SPLIT]], ["category", row[CATEGORY]],
      ["span", row[START] === null ? "" : `${row[START].toFixed(2)} to ${row[END].toFixed(2)} s (${seconds(row)})`], ["video", row[VIDEO]],
    ].filter(([, value]) => value);
    const list = element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value, dir: "auto" })]));
    const close = element("button", { type: "button", className: "button", textContent: "Close" });
    close.addEventListener("click", () => view.close());
    const parts = [element("h3", { id: "clip-view-title", textContent: row[ID], dir: "auto" })];
    if (row[PICTURE]) parts.push(element("img", { className: "strip", src: row[PICTURE], alt: "first, middle and last frame" }));
    else parts.push(element("p", { className: "blank", textContent: "No video of this clip is here." }));
    if (row[SHOTS].length) parts.push(drawShots(row));
    parts.push(list, element("h4", { textContent: `${row[CAPTIONS].length} captions` }));
    parts.push(element("ol", {}, ...row[CAPTIONS].map((text) => element("li", { textContent: text, dir: "auto" }))), close);
    body.replaceChildren(...parts);
    if (!view.open) view.showModal();
    view.scrollTop = 0;
  };
  const drawShots = (row) => {
    const make = (name, properties) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
      return made;
    };
    const svg = make("svg", { class: "timeline", role: "img", width: "100%", height: 14, "aria-label": `${row[SHOTS].length + 1} shots` });
    const times = [row[START], ...row[SHOTS], row[END]];
    const percent = (time) => (100 * (time - row[START])) / (row[END] - row[START]);
    for (let index = 0; index + 1 < times.length; index += 1) {
      const width = Math.max(percent(times[index + 1]) - percent(times[index]) - 0.4, 0.2);
      svg.append(make("rect", { class: `tone-${index % 2 ? "g" : "a"}`, x: `${percent(times[index])}%`, width: `${width}%`, y: 1, height: 12 }));
    }
    return svg;
  };
  view.addEventListener("close", () => {
    if (location.hash.startsWith("#clip-")) history.replaceState(null, "", location.pathname + location.search);
  });
  addEventListener("hashchange", openClip);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-clip]");
    if (!link) return;
    event.preventDefault();
    location.hash = `clip-${link.dataset.clip}`;
  });

  for (const name of ["split", "category"]) {
    byId(`clip-${name}`).append(...data[name === "split" ? "splits" : "categories"].map((text) => element("option", { value: text, textContent: text })));
  }
  let timer = 0;
  const tools = byId("clip-tools");
  tools.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(select, 150); });
  tools.addEventListener("submit", (event) => event.preventDefault());
  byId("clip-more").addEventListener("click", showMore);
  select().then(() => { performance.mark("clips-shown"); return openClip(); });
})();
