'use strict';

// A key does what a control of the page does that names it in aria-keyshortcuts. It can be turned off on /keys, for
// those whose speech or tremor would press keys by chance.

const off = 'keys off';
const setting = document.getElementById('keys-off');
if (setting) {
  setting.checked = localStorage.getItem(off) !== null;
  setting.addEventListener('change', () => setting.checked ? localStorage.setItem(off, '') : localStorage.removeItem(off));
}
addEventListener('keydown', (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented ||
    localStorage.getItem(off) !== null || event.target.closest?.('input, select, textarea, dialog')) return;
  const control = document.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
  if (!control) return;
  event.preventDefault();
  if (control.matches('input')) control.focus();
  else control.click();
});
for (const button of document.querySelectorAll('button.print')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
