'use strict';

// A form that changes something is sent once by the clicks of two seconds: the answer to the second would say that
// there is nothing left to change.

const sent = new WeakMap();
addEventListener('submit', (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== 'post') return;
  if (event.timeStamp - sent.get(form) < 2000) event.preventDefault();
  else sent.set(form, event.timeStamp);
});
