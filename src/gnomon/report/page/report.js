"use strict";
// Filters the checks by status and by words. The state stands in the address, so that a link shows what its sender saw.
(() => {
  const form = document.getElementById("filter");
  const words = document.getElementById("words");
  const buttons = [...form.querySelectorAll("[data-filter]")];
  const checks = [...document.querySelectorAll(".check")];
  const shown = document.getElementById("shown");
  const nothing = document.getElementById("nothing");
  const texts = new Map(checks.map((check) => [check, check.textContent.toLowerCase()]));
  let state = { status: "all", words: "" };

  const matches = (check) =>
    (state.status === "all" || check.dataset.status === state.status) &&
    state.words.toLowerCase().split(/\s+/).every((word) => texts.get(check).includes(word));

  const show = () => {
    for (const check of checks) check.hidden = !matches(check);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.filter === state.status));
    if (words.value !== state.words) words.value = state.words;
    const count = checks.filter((check) => !check.hidden).length;
    shown.textContent = count === checks.length ? `${count} checks` : `${count} of ${checks.length} checks`;
    nothing.hidden = count > 0 || checks.length === 0;
  };

  const change = (next) => {
    state = { ...state, ...next };
    const pairs = new URLSearchParams();
    if (state.status !== "all") pairs.set("status", state.status);
    if (state.words.trim()) pairs.set("words", state.words);
    history.replaceState(null, "", pairs.size ? `#${pairs}` : location.pathname + location.search);
    show();
  };

  // A hash with "=" is a state of the filter; any other is a place in the page, which must not be filtered away.
  const follow = () => {
    const hash = location.hash.slice(1);
    if (hash.includes("=")) {
      const pairs = new URLSearchParams(hash);
      const status = pairs.get("status") ?? "all";
      const known = buttons.some((button) => button.dataset.filter === status);
      state = { status: known ? status : "all", words: pairs.get("words") ?? "" };
    } else if (checks.some((check) => check.id === hash && check.hidden)) {
      state = { status: "all", words: "" };
    }
    show();
    if (hash.startsWith("check-")) document.getElementById(hash)?.scrollIntoView();
  };

  for (const button of buttons) button.addEventListener("click", () => change({ status: button.dataset.filter }));
  words.addEventListener("input", () => change({ words: words.value }));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("reset").addEventListener("click", () => change({ status: "all", words: "" }));
  addEventListener("hashchange", follow);
  form.hidden = false;
  follow();
})();
