"use strict";
// A link brings the token behind the #, which browsers keep to themselves.
const token = decodeURIComponent(location.hash.slice(1));
if (token) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("token").value = token;
  document.getElementById("login").requestSubmit();
}
