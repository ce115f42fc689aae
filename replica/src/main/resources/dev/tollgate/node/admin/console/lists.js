/** Brings a list of elements up to date, and keeps those that have not changed: focus and selection stay. */

/**
 * @param list its children without a key stay where they are, before the others
 * @param keyOf what tells items apart
 * @param contentOf what an element shows of an item; an element whose content is the same is kept
 */
export function reconcile(list, items, keyOf, contentOf, make) {
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const before = new Map();
  for (const child of [...list.children]) {
    if (child.dataset.key !== undefined) {
      before.set(child.dataset.key, child);
    }
  }
  const after = items.map(item => {
    const key = String(keyOf(item));
    const content = JSON.stringify(contentOf(item));
    const old = before.get(key);
    if (old?.dataset.content === content) {
      return old;
    }
    const made = make(item);
    made.dataset.key = key;
    made.dataset.content = content;
    return made;
  });
  const kept = new Set(after);
  before.forEach(child => {
    if (!kept.has(child)) {
      child.remove();
    }
  });
  let next = [...list.children].find(child => child.dataset.key !== undefined) ?? null;
  for (const child of after) {
    if (child === next) {
      next = next.nextElementSibling;
    } else {
      list.insertBefore(child, next);
    }
  }
  if (focused !== null && document.activeElement !== focused) {
    focusAgain(list, focused);
  }
}

/** The element that had the focus was moved, or made anew: the button for the same action gets it. */
function focusAgain(list, focused) {
  const action = focused.dataset.action;
  const again = focused.isConnected ? focused
    : action && list.querySelector(`[data-action="${CSS.escape(action)}"]`);
  if (again) {
    again.focus({preventScroll: true});
  } else {
    list.closest('section')?.focus({preventScroll: true});
  }
}

/** Sets a text without a change of the document if it is the same: screen readers read changes. */
export function setText(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}
