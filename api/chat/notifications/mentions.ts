import type { Mention } from '../../../contracts/chat/squad';
import { role } from '../../../contracts/permissions';

/** People whom one text can call. */
const maxMentions = 50;

/** A name after an `@` that begins a word: no part of an address, and without the full stop that ends a sentence. */
const mentionPattern = /(?<![\p{L}\p{N}_@./-])@([A-Za-z0-9][A-Za-z0-9._-]{0,63})/gu;

const kindOf = (target: string): Mention['kind'] =>
  target === 'owner' ? 'owner' : role.options.some((option) => option === target) ? 'role' : 'agent';

/** Who is called by `@name` in a text, each once and in the order they are called: the owner, a role or an agent. */
export function mentionsIn(text: string): Mention[] {
  const targets = [...text.matchAll(mentionPattern)].map(([, name = '']) => name.replace(/[._-]+$/, ''));
  return [...new Set(targets)].slice(0, maxMentions).map((target) => ({ target, kind: kindOf(target) }));
}
