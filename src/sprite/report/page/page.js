"use strict";
document.documentElement.classList.add("js");

// Sorting: headings become buttons; numbers are read as shown, dashes go last.
const asNumber = (text) => { const n = parseFloat(text.replace(/\u2212/g, "-").replace(/[,\s]/g, "")); return isNaN(n) ? null : n; };
const byName = new Intl.Collator(undefined, { numeric: true }).compare;
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    // Not a button element: Chromium leaves those out of headings that it repeats on printed pages.
    const button = document.createElement("span");
    button.className = "sort";
    button.tabIndex = 0;
    button.setAttribute("role", "button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); button.click(); }
    });
    button.addEventListener("click", () => {
      const numeric = head.dataset.sort === "num";
      const now = head.getAttribute("aria-sort");
      const down = now ? now === "ascending" : numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => { const at = row.cells[column], text = (at.firstElementChild || at).textContent.trim(); return numeric ? asNumber(text) : text; };
      const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => {
        const empty = (v) => v === null || v === "";
        if (empty(a) || empty(b)) return empty(a) - empty(b);
        const order = numeric ? a - b : byName(a, b);
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}

// Filtering: the table of questions and their panels together.
const find = document.getElementById("find"), kind = document.getElementById("kind"), shown = document.getElementById("shown");
const lines = [...document.querySelectorAll("#question-table tbody tr")].map((row) => {
  const panel = document.getElementById("q" + row.dataset.q);
  const text = panel.querySelector(".text");
  return { row, panel, words: (row.cells[0].textContent + " " + (text ? text.textContent : "")).toLowerCase(), kinds: row.dataset.k.split(" ") };
});
const filter = () => {
  const wanted = find.value.trim().toLowerCase();
  let n = 0;
  for (const { row, panel, words, kinds } of lines) {
    const fits = kind.value === "" || (kind.value === "*" ? kinds[0] !== "" : kinds.includes(kind.value));
    const hit = fits && words.includes(wanted);
    row.hidden = panel.hidden = !hit;
    n += hit;
  }
  shown.textContent = n + " of " + lines.length;
};
find.addEventListener("input", filter);
kind.addEventListener("change", filter);

// A link to a panel that the filter hides shows it again.
addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.hidden) { find.value = kind.value = ""; filter(); target.scrollIntoView(); }
});

// Downloads: text that a spreadsheet would run as a formula gets a quote in front; numbers are left alone.
const cell = (value) => {
  if (value === null) return "";
  let text = String(value);
  if (typeof value === "string" && /^[\s']*[=+\-@]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
};
for (const button of document.querySelectorAll("button[data-table]")) {
  button.addEventListener("click", () => {
    const table = JSON.parse(document.getElementById("data").textContent)[button.dataset.table];
    const rows = [table.columns, ...table.rows].map((row) => row.map(cell).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff" + rows.join("\r\n") + "\r\n"], { type: "text/csv;charset=utf-8" }));
    link.download = button.dataset.table + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
