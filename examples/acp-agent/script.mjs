const verbs = new Set(['say', 'write', 'wait', 'ask', 'read', 'run', 'recall']);

/** The steps of a prompt: its lines that begin with a verb, also as items of a list. Everything else is prose. */
export function readScript(prompt) {
  return prompt.split('\n').flatMap((line) => {
    const [, verb, rest] = /^\s*(?:[-*] (?:\[.\] )?)?([a-z]+) ?(.*)$/.exec(line) ?? [];
    return verb && verbs.has(verb) ? [{ verb, rest: rest.trim() }] : [];
  });
}
