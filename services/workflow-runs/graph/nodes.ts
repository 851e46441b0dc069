import { compact } from '../../../platform/json/compact';
import { cut } from '../../../platform/text/cut';
import { parseCondition } from './condition';
import type { Attributes } from './dot';
import { type Place, placeOf } from './dot-tokens';
import { parseDuration } from './duration';
import {
  type GraphEdge,
  type GraphNode,
  type NodeKind,
  nodeKinds,
  type Option,
  questionTypes,
  runLimits,
  usualCommandMs,
  usualPromptMs,
  workOf,
} from './graph';
import { agentOf } from './kinds/agent';
import { childOf } from './kinds/child';
import { commandOf } from './kinds/command';
import { mapOf } from './kinds/map';
import { parallelOf } from './kinds/parallel';
import { promptToolsOf } from './kinds/prompt-tools';
import { toolOf } from './kinds/tool';
import { unusedOf } from './kinds/unused';
import { namesOf } from './names';
import { integer } from './numbers';
import { outputSchemaOf } from './output-schema';

/** What a shape stands for. */
const kindOfShape: Readonly<Record<string, NodeKind>> = {
  Mdiamond: 'start',
  Msquare: 'exit',
  hexagon: 'human',
  diamond: 'decision',
  component: 'parallel',
  tripleoctagon: 'join',
  // Graphviz's own default, and what people draw boxes with.
  box: 'prompt',
  rect: 'prompt',
  rectangle: 'prompt',
  ellipse: 'prompt',
  oval: 'prompt',
};

/** Names that may be part of a URL and of the name of a value, and that no object has by itself. */
const soundId = (id: string): boolean =>
  /^[\p{L}_][\p{L}\p{M}\p{N}_-]{0,63}$/u.test(id) && !(id in Object.prototype) && id !== 'prototype';

/** A text as people read it: the line breaks of the DOT language, tabs and backslashes in the place of their escapes. */
export const withLineBreaks = (text: string): string =>
  text.replace(/\\([nlrt\\])/g, (_escape, letter: string) => ({ '\\': '\\', t: '\t' })[letter] ?? '\n');

const usualRetries = 2;
const longestText = 20_000;

/** What was written of a node or an edge, and where. */
interface Written {
  attributes: Attributes;
  place: Place;
  problems: string[];
}

/** Reads one node; what is wrong with it is added to `problems`. */
export function readNode(
  id: string,
  {
    attributes,
    own = new Map<string, string>(),
    outgoing,
    place,
    problems,
  }: Written & { own?: Attributes | undefined; outgoing: readonly GraphEdge[] },
): GraphNode {
  const name = `Node ${JSON.stringify(cut(id, 64))}`;
  const problem = (message: string): void => void problems.push(`${name} (${placeOf(place)}): ${message}.`);
  if (!soundId(id)) {
    problem('its name must be letters, digits, - and _, at most 64, and not begin with a digit');
  }
  const kind = kindOf(id, attributes, problem);
  const label = withLineBreaks(attributes.get('label') ?? id);
  const map = mapOf(kind, attributes, problem);
  const work = workOf({ kind, ...compact({ map }) });
  unusedOf(work, own).forEach(problem);
  const timeoutMs = timeoutOf(work, attributes, problem);
  const text = (name: string): string | undefined => {
    const value = attributes.get(name);
    if (value !== undefined && value.length > longestText) {
      problem(`${name} may have at most ${longestText} characters`);
    }
    return value ? withLineBreaks(value) : undefined;
  };
  const command = commandOf(work, attributes, problem);
  const child = childOf(work, attributes, problem);
  const agent = agentOf(work, attributes, problem);
  const tool = toolOf(work, attributes, problem);
  const promptTools = promptToolsOf(work, attributes, problem);
  const retryDelayMs = durationOf('retry_delay', attributes, problem);
  const model = text('model');
  const system = text('system');
  const fallbackModels = namesOf('fallback_models', attributes, problem);
  const maxTokens = integer('max_tokens', attributes, { range: [1, 1_000_000], problem });
  return {
    id,
    kind,
    label: cut(label, 200),
    maxRetries:
      integer('max_retries', attributes, { range: [0, 10], problem }) ??
      (command || child || agent || tool ? 0 : usualRetries),
    ...compact({
      timeoutMs,
      outputSchema: outputSchemaOf(work, attributes, problem),
      command,
      map,
      child,
      agent,
      tool,
      promptTools,
      parallel: parallelOf(kind, attributes, problem),
      retryDelayMs,
      maxVisits: integer('max_visits', attributes, { range: [1, runLimits.stages], problem }),
    }),
    ...(work === 'prompt' && {
      prompt: text('prompt') ?? label,
      ...compact({ system, model, fallbackModels, maxTokens }),
    }),
    ...(agent && agent.task === undefined && { prompt: text('prompt') ?? label }),
    ...(kind === 'human' && { question: questionOf(attributes, { label, outgoing, problem }) }),
  };
}

/** Reads one edge; what is wrong with it is added to `problems`. */
export function readEdge(
  { from, to }: { from: string; to: string },
  { attributes, place, problems }: Written,
): GraphEdge {
  const problem = (message: string): void =>
    void problems.push(`Edge ${from} -> ${to} (${placeOf(place)}): ${message}.`);
  const label = withLineBreaks(attributes.get('label') ?? '');
  const written = attributes.get('condition');
  const condition = written === undefined ? undefined : parseCondition(written);
  if (written !== undefined && !condition) {
    problem('its condition must be comparisons such as outcome=success, joined with &&, || and ! (with parentheses)');
  }
  return {
    from,
    to,
    ...(label ? { label: cut(label, 200), ...compact({ option: optionKey(label) || undefined }) } : {}),
    ...compact({
      condition,
      maxTraversals: integer('max_traversals', attributes, { range: [1, runLimits.stages], problem }),
    }),
    weight: integer('weight', attributes, { range: [0, 1_000_000], problem }) ?? 0,
  };
}

function kindOf(id: string, attributes: Attributes, problem: (message: string) => void): NodeKind {
  const type = attributes.get('type');
  if (type !== undefined) {
    const kind = nodeKinds.find((candidate) => candidate === type);
    if (!kind) {
      problem(`its type must be one of ${nodeKinds.join(', ')}`);
    }
    return kind ?? 'prompt';
  }
  const shape = attributes.get('shape');
  if (shape !== undefined) {
    const shaped = Object.hasOwn(kindOfShape, shape) ? kindOfShape[shape] : undefined;
    if (!shaped) {
      problem(`its shape must be one of ${Object.keys(kindOfShape).join(', ')}`);
    }
    return shaped ?? 'prompt';
  }
  return id === 'start' ? 'start' : id === 'exit' ? 'exit' : 'prompt';
}

function timeoutOf(kind: NodeKind, attributes: Attributes, problem: (message: string) => void): number | undefined {
  const name = kind === 'wait' ? 'duration' : 'timeout';
  if (!attributes.has(name)) {
    if (kind === 'wait') {
      problem('a wait needs a duration such as 30s');
    }
    return kind === 'prompt' ? usualPromptMs : kind === 'command' ? usualCommandMs : undefined;
  }
  return durationOf(name, attributes, problem);
}

export function durationOf(
  name: string,
  attributes: Attributes,
  problem: (message: string) => void,
): number | undefined {
  const written = attributes.get(name);
  if (written === undefined) {
    return undefined;
  }
  const milliseconds = parseDuration(written);
  if (milliseconds === undefined) {
    problem(`${name} must be a duration such as 250ms, 30s, 5m, 2h or 1d`);
  }
  return milliseconds;
}

/** `[Y] Yes, ship it` has the key `Y`; a label without brackets is its own, in lower case and with dashes. */
export function optionKey(label: string): string {
  const [, bracketed] = /^\s*\[([^\]\s]{1,20})\]/.exec(label) ?? [];
  if (bracketed !== undefined) {
    return bracketed;
  }
  return (
    label
      .normalize('NFC')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 64)
      // Half a character, where it was cut.
      .replace(/\p{Cs}$/u, '')
  );
}

function questionOf(
  attributes: Attributes,
  { label, outgoing, problem }: { label: string; outgoing: readonly GraphEdge[]; problem: (message: string) => void },
): NonNullable<GraphNode['question']> {
  const written = attributes.get('question_type');
  const labelled = optionsOf(attributes, outgoing);
  const type = questionTypes.find((candidate) => candidate === written);
  if (written !== undefined && !type) {
    problem(`question_type must be one of ${questionTypes.join(', ')}`);
  }
  const freeform = attributes.get('allow_freeform');
  if (freeform !== undefined && freeform !== 'true' && freeform !== 'false') {
    problem('allow_freeform must be true or false');
  }
  const chosen = type ?? (labelled.length > 0 ? 'multiple_choice' : 'freeform');
  const options =
    labelled.length === 0 && (chosen === 'yes_no' || chosen === 'confirmation')
      ? [
          { key: 'yes', label: 'Yes' },
          { key: 'no', label: 'No' },
        ]
      : labelled;
  const unkeyed = outgoing.find((edge) => edge.label !== undefined && edge.option === undefined);
  if (unkeyed?.label !== undefined) {
    problem(`the label ${JSON.stringify(unkeyed.label)} has no letter or digit; begin it with a key such as [Y]`);
  }
  if (options.length === 0 && chosen !== 'freeform') {
    problem('a choice needs options: label its edges, or set options');
  }
  if (new Set(options.map(({ key }) => key)).size < options.length) {
    problem('two of its options have the same key');
  }
  const allowFreeform = chosen === 'freeform' || freeform === 'true';
  return { text: withLineBreaks(attributes.get('question') ?? '') || label, type: chosen, options, allowFreeform };
}

function optionsOf(attributes: Attributes, outgoing: readonly GraphEdge[]): Option[] {
  const listed = (attributes.get('options') ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter(Boolean)
    .map((text) => ({ key: optionKey(text), label: text }));
  const edges = outgoing.flatMap(({ label, option }) => (label && option ? [{ key: option, label }] : []));
  const byKey = new Map([...listed, ...edges].map((option) => [option.key, option]));
  return listed.length > 0 ? [...byKey.values()] : edges;
}
