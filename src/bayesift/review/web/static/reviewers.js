"use strict";
// The server does not know by which name it is reached; the browser does.
const link = document.getElementById("link");
if (link) {
  link.textContent = `${location.origin}/login#${link.dataset.token}`;
}
