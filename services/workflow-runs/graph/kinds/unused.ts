import type { Attributes } from '../dot';
import type { NodeKind } from '../graph';

/** Attributes that mean nothing to other nodes than these. */
const readBy: Readonly<Record<string, readonly NodeKind[]>> = {
  duration: ['wait'],
  question: ['human'],
  question_type: ['human'],
  options: ['human'],
  allow_freeform: ['human'],
  timeout: ['prompt', 'human', 'webhook', 'command', 'child', 'agent', 'tool'],
  prompt: ['prompt', 'agent'],
  system: ['prompt'],
  model: ['prompt', 'agent'],
  fallback_models: ['prompt'],
  max_tokens: ['prompt'],
  max_retries: ['prompt', 'command', 'child', 'agent', 'tool'],
  retry_delay: ['prompt', 'command', 'child', 'agent', 'tool'],
};

/**
 * What is wrong with the attributes that a node has itself: those that its type does not read. Defaults may be meant for other nodes.
 *
 * @param work what the node does, or a map for each of its items
 */
export const unusedOf = (work: NodeKind, own: Attributes): string[] =>
  Object.entries(readBy).flatMap(([name, kinds]) =>
    own.get(name) && !kinds.includes(work) ? [`${name} means nothing to a node with type=${work}`] : [],
  );
