'use strict';

// A search finds while one types. What it finds comes from the page of the search, which the field's button opens: links
// below the field, or, in a form that takes what is found, boxes to choose it by.

const least = 2, links = 8, pause = 250; // characters, links, milliseconds
const texts = document.currentScript.dataset;

for (const field of document.querySelectorAll('input[data-found]')) {
  const status = Object.assign(document.createElement('p'), {className: 'hint found'});
  status.setAttribute('role', 'status');
  const list = Object.assign(document.createElement('ul'), {className: 'plain found', hidden: true});
  field.closest('.row, form').after(status, list);
  let asked, waiting;

  const address = (text) => {
    const query = new URLSearchParams({q: text});
    const kept = field.form.method === 'get' ? field.form.querySelectorAll('[type=hidden]') : []; // no token
    for (const {name, value} of kept) query.set(name, value);
    return '/search?' + query;
  };
  const box = (item) => {
    const link = item.querySelector('a'), id = link.pathname.match(/^\/week\/(\d+)$/)?.[1];
    const choice = Object.assign(document.createElement('input'), {type: 'checkbox', name: field.dataset.found});
    choice.value = `${id}:${link.textContent}`;
    if (!id || [...field.form.elements].some(({value}) => value === choice.value)) return [];
    const label = document.createElement('label');
    label.append(choice, ' ' + link.textContent);
    link.replaceWith(label);
    return [item];
  };
  const look = async () => {
    asked?.abort();
    asked = new AbortController();
    const text = field.value.trim(), enough = text.length >= least;
    let found = [];
    try {
      if (enough) {
        const answer = await fetch(address(text), {signal: asked.signal});
        if (!answer.ok || answer.redirected) return;
        const page = (await answer.text()).replace(/<style[^]*?<\/style>/g, ''); // the policy refuses another page's
        found = [...new DOMParser().parseFromString(page, 'text/html').querySelectorAll('main ul.plain > li')];
      }
    } catch { return; } // the button still searches
    for (const item of list.querySelectorAll('li:not(:has(:checked))')) item.remove();
    found = field.dataset.found ? found.flatMap(box) : found.slice(0, links);
    list.append(...found);
    list.hidden = !list.firstChild;
    status.textContent = !enough ? '' : found.length ? texts.some.replace('%d', found.length) : texts.none;
  };
  field.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, pause);
  });
}
