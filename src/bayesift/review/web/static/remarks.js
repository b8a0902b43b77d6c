"use strict";
// Notes and tags of the card that is shown: saved when a tag is pressed, and when a note is left.
const remarkable = document.getElementById("review");
let unsaved = Promise.resolve();

function noted() {
  const card = document.querySelector(".card[data-document]");
  return card ? Number(card.dataset.document) : null;
}

async function saveRemark(what) {
  const answer = await fetch(`/api/topics/${remarkable.dataset.topic}/remarks`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": document.querySelector("meta[name=csrf]").content },
    body: JSON.stringify(what),
  });
  if (!answer.ok) {
    const content = await answer.json().catch(() => ({}));
    throw new Error(typeof content.detail === "string" ? content.detail : "This could not be saved.");
  }
}

function told(work) {
  // Whoever decides next waits for it.
  unsaved = work.catch((error) => {
    const line = document.getElementById("message");
    line.className = "message failed";
    line.textContent = error.message;
    throw error;
  });
  unsaved.catch(() => {});
}

function saveNote() {
  const note = document.getElementById("note");
  if (note && note.value !== note.defaultValue) {
    const before = note.defaultValue;
    note.defaultValue = note.value;
    told(saveRemark({ document: noted(), note: note.value }).catch((error) => {
      note.defaultValue = before;
      throw error;
    }));
  }
  return unsaved;
}

function pressTag(button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  const tags = [...document.querySelectorAll(".tag[aria-pressed=true]")].map((one) => one.dataset.tag);
  told(saveRemark({ document: noted(), tags }).catch((error) => {
    button.setAttribute("aria-pressed", String(!on));
    throw error;
  }));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".tag");
  if (button) {
    pressTag(button);
  }
});
document.addEventListener("focusout", (event) => {
  if (event.target.id === "note") {
    saveNote();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.target.id === "note") {
    if (event.key === "Escape") {
      document.getElementById("card-title").focus();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest("input, textarea, select, dialog")) {
    return;
  }
  const digit = /^Digit([1-9])$/.exec(event.code);
  const tag = event.shiftKey && digit ? document.querySelectorAll(".tag")[Number(digit[1]) - 1] : null;
  if (tag) {
    event.preventDefault();
    pressTag(tag);
  } else if (event.key.toLowerCase() === "n" && document.getElementById("note")) {
    event.preventDefault();
    document.getElementById("note").focus();
  }
});
