// What every page has: buttons that copy the command beside them.
async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Without a secure connection there is no clipboard: the text is chosen, and the keys do the rest.
    getSelection().selectAllChildren(code);
    button.textContent = "Chosen";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1600);
}

function show() {
  for (const button of document.querySelectorAll("button.copy[hidden]")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copy(button);
});
show();
// Pages that are written anew bring new buttons.
new MutationObserver(show).observe(document.getElementById("main"), { childList: true, subtree: true });
