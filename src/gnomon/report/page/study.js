"use strict";
// Copies a command; where the browser does not allow it, marks it, so that the keyboard can.
(() => {
  const mark = (code) => {
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  const say = (button, word) => {
    button.textContent = word;
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  };
  for (const button of document.querySelectorAll(".copy")) {
    const code = button.parentElement.querySelector("code");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        say(button, "Copied");
      } catch {
        mark(code);
        say(button, "Selected");
      }
    });
    button.hidden = false;
  }
})();
