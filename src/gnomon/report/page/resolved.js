"use strict";
// Filters configs and stacks, and shows what decided a square while the pointer or the focus is on it.
(() => {
  const form = document.getElementById("filter");
  const words = document.getElementById("words");
  const buttons = [...form.querySelectorAll("[data-filter]")];
  const matrix = document.getElementById("matrix");
  const heads = [...matrix.querySelectorAll("thead th")].slice(1);
  const rows = [...matrix.querySelectorAll("tbody tr")];
  const abouts = [...document.querySelectorAll(".about")];
  const shown = document.getElementById("shown");
  const nothing = document.getElementById("nothing");
  const peek = document.getElementById("peek");
  let state = { verdict: "all", words: "" };

  const fits = (text, wanted) => wanted.every((word) => text.toLowerCase().includes(word));

  // A word that names a stack chooses columns, any other one chooses configs.
  const show = () => {
    const asked = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const ofStacks = asked.filter((word) => heads.some((head) => head.dataset.stack.toLowerCase().includes(word)));
    const ofConfigs = asked.filter((word) => !ofStacks.includes(word));
    const columns = heads.map(
      (head) => !ofStacks.length || ofStacks.some((word) => head.dataset.stack.toLowerCase().includes(word)),
    );
    heads.forEach((head, index) => { head.hidden = !columns[index]; });
    let squares = 0;
    for (const row of rows) {
      let seen = 0;
      [...row.querySelectorAll("td")].forEach((cell, index) => {
        const same = state.verdict === "all" || cell.dataset.verdict === state.verdict;
        cell.hidden = !columns[index];
        cell.classList.toggle("dim", !same);
        if (same && columns[index] && cell.dataset.verdict) seen += 1;
      });
      row.hidden = !seen || !fits(row.dataset.config, ofConfigs);
      squares += row.hidden ? 0 : seen;
    }
    for (const about of abouts) about.hidden = !fits(about.dataset.config, ofConfigs);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.filter === state.verdict));
    if (words.value !== state.words) words.value = state.words;
    const visible = rows.filter((row) => !row.hidden).length;
    shown.textContent = `${squares} squares in ${visible} of ${rows.length} configs`;
    nothing.hidden = visible > 0;
  };

  const change = (next) => {
    state = { ...state, ...next };
    const pairs = new URLSearchParams();
    if (state.verdict !== "all") pairs.set("verdict", state.verdict);
    if (state.words.trim()) pairs.set("words", state.words);
    location.replace(`#${pairs.size ? pairs : "all"}`); // unlike replaceState it closes the square that a link opened
    show();
  };

  // A hash with "=" is a state of the filter; any other is the address of a square.
  const follow = () => {
    const hash = location.hash.slice(1);
    if (hash.includes("=")) {
      const pairs = new URLSearchParams(hash);
      const verdict = pairs.get("verdict") ?? "all";
      state = { verdict: buttons.some((one) => one.dataset.filter === verdict) ? verdict : "all", words: pairs.get("words") ?? "" };
    }
    show();
    if (hash.includes(".")) document.getElementById(decodeURIComponent(hash))?.scrollIntoView();
  };

  const hide = () => { peek.hidden = true; };
  const tell = (link) => {
    const square = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!square) return;
    peek.replaceChildren(...[...square.children].map((child) => child.cloneNode(true)));
    peek.hidden = false;
    const place = link.getBoundingClientRect();
    const below = place.bottom + 8 + peek.offsetHeight < innerHeight;
    peek.style.left = `${Math.max(8, Math.min(place.left, innerWidth - peek.offsetWidth - 8))}px`;
    peek.style.top = `${below ? place.bottom + 8 : Math.max(8, place.top - peek.offsetHeight - 8)}px`;
  };

  matrix.addEventListener("pointerover", (event) => {
    const link = event.target.closest?.("td a");
    if (link && event.pointerType !== "touch") tell(link);
  });
  matrix.addEventListener("pointerout", hide);
  matrix.addEventListener("focusin", (event) => { if (event.target.matches("td a:focus-visible")) tell(event.target); });
  matrix.addEventListener("focusout", hide);
  matrix.addEventListener("click", hide);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  for (const button of buttons) button.addEventListener("click", () => change({ verdict: button.dataset.filter }));
  words.addEventListener("input", () => change({ words: words.value }));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("reset").addEventListener("click", () => change({ verdict: "all", words: "" }));
  addEventListener("hashchange", follow);
  form.hidden = false;
  follow();
})();
