import { ApplicationFailure } from '@temporalio/activity';
import { compact } from '../../../../platform/json/compact';
import { cut } from '../../../../platform/text/cut';
import { createToolCaller, tookMs } from '../../board/tools';
import type { WorkflowRunsContext } from '../../context';
import { awaitCall } from '../../runs/stages/await-tool';
import type { ToolCallInput, ToolCallProgress, ToolEnd } from '../../runs/stages/tool-messages';
import { maxResult } from '../../runs/talks/offered-tools';
import { resultForModel } from '../../runs/talks/result-for-model';
import type { Exchange } from '../session';
import type { SessionToolInput, SessionToolProgress } from './messages';
import { type Round, type RoundResult, roundsOf, toolUses } from './rounds';

type Dependencies = Pick<WorkflowRunsContext, 'sessions' | 'board' | 'now'>;

/** The calls that models of sessions ask for. */
export function createSessionToolActivities({ sessions, board, now }: Dependencies) {
  const { events } = sessions;
  const caller = createToolCaller(board);

  async function read(id: string, round: number): Promise<{ exchange: Exchange; asked: Round }> {
    const exchange = await sessions.exchange(id);
    const asked = exchange && roundsOf(exchange)[round - 1];
    if (!asked) {
      throw ApplicationFailure.nonRetryable('The round no longer exists.');
    }
    return { exchange, asked };
  }

  /** Stores what came of a call; the first result of a call stands. */
  async function record({ id, round, index }: SessionToolInput, result: RoundResult): Promise<void> {
    for (;;) {
      const { exchange, asked } = await read(id, round);
      if (asked.results[index]) {
        return;
      }
      const changed = { ...asked, results: [...asked.results, result] };
      const states: Exchange['state'][] = ['generating', 'superseded'];
      if (await sessions.putRounds(exchange, roundsOf(exchange).with(round - 1, changed), states)) {
        return;
      }
    }
  }

  /** Publishes the calls of a round once no further one is made. */
  async function settle({ id, round }: SessionToolInput): Promise<SessionToolProgress> {
    const { exchange, asked } = await read(id, round);
    const isSuperseded = exchange.state !== 'generating';
    if (isSuperseded || asked.results.length === asked.calls.length) {
      const { session, number: turn } = exchange;
      const data = { kind: 'tool' as const, tools: toolUses(asked), created_at: asked.created_at, turn };
      await events.append(session, now().toISOString(), { key: `${id}/${round}/tools`, event: 'tool_turn', data });
    }
    return { state: isSuperseded ? 'superseded' : 'ended' };
  }

  /** No person decides about a call that is waited for no longer. */
  async function withdrawn(owner: string, approvalId: string | undefined): Promise<boolean> {
    return approvalId !== undefined && board !== undefined && (await board.withdrawToolCall(owner, approvalId));
  }

  return {
    /**
     * Makes a call that the model of a session asked for, and waits for its approval and its end. Repeated, it joins the same call. Once another
     * message has come, a call that waits for its approval is withdrawn; one that is being made is waited for.
     */
    async callSessionTool(input: SessionToolInput): Promise<SessionToolProgress> {
      const { id, round, index, forMs, approvalId } = input;
      const { exchange, asked } = await read(id, round);
      const tools = (await sessions.get(exchange.session))?.tools;
      const call = asked.calls[index];
      if (!call || !tools) {
        throw ApplicationFailure.nonRetryable('The call no longer exists.');
      }
      if (asked.results[index]) {
        return settle(input);
      }
      const { server, tool, arguments: values, problem } = call;
      if (problem !== undefined) {
        await record(input, resultForModel({ status: 'refused', reason: problem }));
        return settle(input);
      }
      let isSent = input.isSent === true;
      let took: number | undefined;
      const once = async (request: ToolCallInput, waitMs: number): Promise<ToolCallProgress> => {
        if (!isSent && (await read(id, round)).exchange.state !== 'generating') {
          return (await withdrawn(tools.owner, approvalId))
            ? ended('refused', 'Another message came before it was approved.')
            : ended('unknown', 'Another message came before its result was there.');
        }
        const { at, made } = await caller.call(request, waitMs);
        isSent ||= at.state === 'running';
        took = made && tookMs(made);
        return at;
      };
      const progress = await awaitCall(once, {
        runId: tools.owner,
        stageId: `session:${exchange.session}`,
        operation: `session/${exchange.session}/${id}/${round}/${index}`,
        catalog: asked.catalog,
        arguments: values,
        ...{ server, tool, forMs, ...compact({ approvalId }) },
      });
      if (progress.state === 'ended') {
        const { content, isError } = resultForModel(progress.end);
        await record(input, { content: cut(content, maxResult), isError, ...compact({ tookMs: took }) });
        return settle(input);
      }
      if (progress.state === 'running') {
        return progress;
      }
      const approval_id = progress.state === 'approval' ? progress.approvalId : undefined;
      await events.append(exchange.session, now().toISOString(), {
        key: `${id}/${round}/${index}/${approval_id ?? 'board'}`,
        event: 'tool_waiting',
        data: {
          tool: `${server}/${tool}`,
          ...compact({ approval_id }),
          reason: progress.reason,
          turn: exchange.number,
        },
      });
      return approval_id === undefined ? { state: 'waiting' } : { state: 'approval', approvalId: approval_id };
    },
  };
}

const ended = (status: ToolEnd['status'], reason: string): ToolCallProgress => ({
  state: 'ended',
  end: { status, reason },
});

export type SessionToolActivities = ReturnType<typeof createSessionToolActivities>;
