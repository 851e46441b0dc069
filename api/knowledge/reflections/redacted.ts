import type { ReflectionCreate } from '../../../contracts/knowledge/reflection';
import { createRedactor } from '../../../platform/log/redact';
import { redactUserPaths } from '../../../platform/log/redact-user-paths';

const redactSecrets = createRedactor();

/** A text without what resembles a credential and without the names of people in paths. */
export const redactedText = (text: string): string => redactUserPaths(redactSecrets(text));

/** The same of every text of a value, at any depth; names of fields are the contract's. */
function redactedTexts(value: unknown): unknown {
  if (typeof value === 'string') {
    return redactedText(value);
  }
  if (Array.isArray(value)) {
    return value.map(redactedTexts);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries: [string, unknown][] = Object.entries(value);
  return Object.fromEntries(entries.map(([name, item]) => [name, redactedTexts(item)]));
}

/** What may be stored of a reflection (specification 1, Reflection rules). Its shape stays, ids and enumerations are as they were. */
export function redacted(submitted: ReflectionCreate): ReflectionCreate {
  const { category, promotionTarget, confidence, source, ...texts } = submitted;
  return { category, promotionTarget, confidence, source, ...(redactedTexts(texts) as typeof texts) };
}
