"use strict";
(() => {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // A header of a sortable table becomes a button that sorts the rows by its column.
  const sortKey = (cell) => {
    const text = cell.dataset.sort ?? cell.textContent.trim();
    const number = Number(text.replace(/[,%\u2009]/g, ""));
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b)));
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const header of table.tHead.rows[0].cells) {
      const label = header.textContent.trim();
      if (!label || header.classList.contains("bar")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        const descending = header.ariaSort === "ascending" || (!header.ariaSort && header.classList.contains("num"));
        for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
        header.ariaSort = descending ? "descending" : "ascending";
        const rows = [...table.tBodies[0].rows].map((row, index) => [sortKey(row.cells[header.cellIndex]), index, row]);
        rows.sort((a, b) => (descending ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1]);
        table.tBodies[0].append(...rows.map(([, , row]) => row));
      });
    }
  }

  // A search field leaves the rows of its table whose text holds all of its words.
  for (const input of document.querySelectorAll("input[data-filters]")) {
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of document.getElementById(input.dataset.filters).tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
  }

  // Closed details open where a link leads into them, and all of them on paper.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let parent = target?.closest("details"); parent; parent = parent.parentElement.closest("details")) parent.open = true;
    if (target?.matches("details")) target.open = true;
    if (target?.closest("details")) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });

  // The navigation marks the section that is in view.
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const link = links.get(entry.target.id);
        if (!entry.isIntersecting || !link) continue;
        for (const other of links.values()) other.ariaCurrent = null;
        link.ariaCurrent = "true";
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  for (const section of document.querySelectorAll("main > section")) observer.observe(section);
})();
