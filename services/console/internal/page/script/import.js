// Sends files and shows the answer as it comes, and keeps them for the form that the answer has: they are chosen once.
// Without it, they are chosen again.
'use strict';
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!form.matches('form.files')) return;
  event.preventDefault();
  const main = document.getElementById('main'), chosen = form.querySelector('[type=file]').files;
  const show = (text) => {
    const part = new DOMParser().parseFromString(text, 'text/html').getElementById('main');
    if (part) main.replaceChildren(...part.childNodes);
  };
  let text = '';
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new FormData(form), headers: { Accept: 'text/html' } });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) show(text += piece.value);
  } catch { /* shown below: the page has not come to its end */ }
  if (!text.includes('</html>')) {
    const lost = document.createElement('p');
    lost.className = 'fault';
    lost.role = 'alert';
    lost.textContent = form.dataset.cut;
    main.append(lost);
  }
  const next = main.querySelector('form.files [type=file]');
  if (next) next.files = chosen;
  main.focus();
});
