import type { Message, Thinking, ToolCall } from '../../../../platform/models/message';
import type { ToolUse } from '../../runs/execution/turns';
import type { AskedCall } from '../../runs/talks/messages';
import { turnMessages } from '../../runs/talks/transcript';
import type { Exchange, SessionTurn } from '../session';

/** What came of a call. */
export interface RoundResult {
  content: string;
  isError: boolean;
  tookMs?: number;
}

/** One answer of a model that calls tools, and what came of the calls, in their order. */
export interface Round {
  text: string;
  thinking: Thinking[];
  toolCalls: ToolCall[];
  calls: AskedCall[];
  /** The digest of the catalog that they are of. */
  catalog: string;
  created_at: string;
  results: RoundResult[];
}

export const roundsOf = ({ rounds }: Pick<Exchange, 'rounds'>): Round[] =>
  rounds === undefined ? [] : (JSON.parse(rounds) as Round[]);

/** The end of a call that is waited for no longer: whether it was sent may not be known. */
const lostResult = 'unknown: Another message came before its result was there.';
const notCalled = 'refused: It was not called: another message came first.';

/** What a model receives of a call: a provider refuses calls without a result. */
const resultAt = ({ results }: Round, index: number): RoundResult =>
  results[index] ?? { content: index === results.length ? lostResult : notCalled, isError: true };

/** A round as a model is sent it. */
export const roundMessages = (round: Round): Message[] =>
  turnMessages({
    ...round,
    results: round.toolCalls.map(({ id: callId }, index) => ({ callId, ...resultAt(round, index) })),
  });

/** The calls of a round as readers of its session see them; a result that is not there yet is `null`. */
export const toolUses = ({ toolCalls, calls, results }: Round): ToolUse[] =>
  toolCalls.map(({ id, name, arguments: values }, index) => {
    const { server = '', tool = name } = calls[index] ?? {};
    const result = results[index];
    return {
      id,
      tool_name: server === '' ? name : `${server}/${tool}`,
      input: JSON.stringify(values ?? null),
      result: JSON.stringify(result?.content ?? null),
      is_error: result?.isError ?? false,
      ...(result?.tookMs !== undefined && { duration_ms: result.tookMs }),
    };
  });

const roundTurns = (round: Round): SessionTurn[] => [
  ...(round.text === '' ? [] : [{ kind: 'assistant' as const, content: round.text, created_at: round.created_at }]),
  { kind: 'tool', tools: toolUses(round), created_at: round.created_at },
];

/** A message, the calls of tools before its answer, and the answer. */
export const turnsOf = (exchange: Exchange): SessionTurn[] => [
  { kind: 'user', content: exchange.content, created_at: exchange.created_at },
  ...roundsOf(exchange).flatMap(roundTurns),
  ...(exchange.answer ? [{ kind: 'assistant' as const, ...exchange.answer }] : []),
];
