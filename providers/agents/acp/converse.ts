import { type McpServer, RequestError } from '@agentclientprotocol/sdk/unstable';
import { errorMessage } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { within } from '../../../platform/operations/within';
import { cut } from '../../../platform/text/cut';
import { printable } from '../../../platform/text/printable';
import type { AgentHost } from '../local/agent-environment';
import { withLastWords } from '../local/last-output';
import type { OutputRecorder } from '../local/output-recorder';
import { pump } from '../local/pump';
import type { Channel, Conversation } from '../local/run-local';
import type { AgentDispatch, AgentOutcome } from '../provider';
import { clientTools, offerTo } from './client/offer';
import { decide, toolUseOf } from './client/tool-gate';
import { type AcpConnection, connectAcp, longestFrame } from './connection';
import { AcpFailure, AgentEndedError, agentMessage } from './failure';
import {
  excessOf,
  type PermissionDecider,
  type PermissionResponse,
  questionOf,
  responseOf,
  ruleDecider,
} from './permission';
import { AcpSession } from './session';
import { continuationOf, resultOf } from './session-result';
import { bridgeServers, toolServersFor } from './tool-servers';
import { deltas, SessionUpdates, type UpdateEvent } from './updates';

/** How long an agent may stay after its session, before it is ended, in milliseconds. */
const exitWithinMs = 2_000;

/** The Agent Client Protocol: a session on the agent's standard streams. */
export function converse(
  { launched: { agent, sandbox }, recorder, terminator, sink }: Channel,
  dispatch: AgentDispatch,
  { host, decider, people }: { host: AgentHost; decider: PermissionDecider; people: PermissionDecider },
): Conversation {
  const updates = new SessionUpdates();
  const ids = () => (session.sessionId === undefined ? {} : idOf(session.sessionId));
  const record = async (events: UpdateEvent[]): Promise<void> => {
    for (const { kind, payload, itemId } of events) {
      await recorder.event(kind, payload, { bytes: 0, ids: { ...ids(), ...compact({ itemId }) } });
    }
  };

  let reportTimer: NodeJS.Timeout | undefined;
  /** Words are published without waiting for the next ones. A failure to record them fails the next record. */
  const scheduleReport = (): void => {
    reportTimer ??= setTimeout(() => {
      reportTimer = undefined;
      record(updates.publishOpen()).catch(() => undefined);
    }, deltas.afterMs);
  };

  const offered = offerTo(dispatch.agent);
  const { tools, terminals } = clientTools(dispatch, host, {
    people,
    sessionId: () => session.sessionId,
    record: (kind, payload) => record([{ kind, payload }]),
    sandbox,
  });

  const connection: AcpConnection = connectAcp(agent, {
    tools: { of: tools, offered },
    text: (line) => recorder.stdout(line),
    unknown: (message, problem, bytes) =>
      recorder.event('provider.unknown', { ...message, problem }, { bytes, ids: ids() }),
    refused: (text, problem, bytes) => recorder.refuse(text, { problem, bytes, ids: ids() }),
    notified(method, params, bytes) {
      // What is replayed while a session is loaded was published when it happened.
      const isReplay = method === 'session/update' && session.sessionId === undefined;
      const events = isReplay ? [] : method === 'session/update' ? updates.take(params) : undefined;
      if (!events) {
        return recorder.event('provider.unknown', { method, params }, { bytes, ids: ids() });
      }
      recorder.count(bytes);
      scheduleReport();
      return events.length > 0 ? record(events) : undefined;
    },
    async permission(request, signal) {
      const problem = excessOf(request);
      if (problem !== undefined) {
        await recorder.refuse('session/request_permission', { problem, bytes: 0, ids: ids() });
        return { outcome: { outcome: 'cancelled' } };
      }
      const question = questionOf(request, dispatch);
      const { toolCallId } = request.toolCall;
      const waits = AbortSignal.any([signal, session.turnSignal]);
      const verdict = await decide(dispatch.rules, ({ worktreePath }) => toolUseOf(request, worktreePath));
      const by = verdict.verdict === 'deny' ? ruleDecider(verdict) : verdict.verdict === 'ask' ? people : decider;
      const decided = () =>
        Promise.race([by.decide(question, waits, { sessionId: session.sessionId, toolCallId }), cancelled(waits)]);
      if (by.recordsItself) {
        return responseOf(question, await decided().catch(undecided));
      }
      await record([{ kind: 'approval.requested', payload: { ...question }, itemId: toolCallId }]);
      const answer = await decided();
      const response = responseOf(question, answer);
      const { outcome } = response;
      await record([
        {
          kind: 'approval.resolved',
          payload: {
            outcome: outcome.outcome,
            ...(outcome.outcome === 'selected' ? { optionId: outcome.optionId } : {}),
            decidedBy: answer.decidedBy,
            ...(verdict.verdict === 'deny' ? { reason: verdict.reason } : {}),
          },
          itemId: toolCallId,
        },
      ]);
      return response;
    },
  });
  let passed: McpServer[] = [];
  const session = new AcpSession(connection, dispatch, {
    offered,
    toolServers: (abilities) =>
      (passed = [
        ...toolServersFor(dispatch.agent, host, abilities?.mcpCapabilities).servers,
        ...bridgeServers(dispatch, abilities?.mcpCapabilities),
      ]),
    async opened({ sessionId, edge }, offer) {
      // What an agent reports of its mode is no part of its first answer.
      await record(updates.finish());
      const { model, mode } = offer;
      const servers = passed.map(({ name }) => name);
      const payload = {
        sessionId,
        ...(model === null ? {} : { model }),
        ...(mode === null ? {} : { mode }),
        ...(servers.length > 0 ? { mcpServers: servers } : {}),
      };
      await recorder.event(`conversation.${edge}`, payload, { bytes: 0, ids: idOf(sessionId) });
      await sink.offered?.(offer);
    },
    turnEnded: () => record(updates.finish()),
  });
  terminator.gracefulShutdown = () => session.shutDown(Math.min(2_000, dispatch.stopGraceMs));

  async function hold(): Promise<Pick<AgentOutcome, 'result' | 'silent' | 'error'> & { endedEarly?: true }> {
    try {
      const end = await session.hold();
      const lastMessage = recorder.redacted(updates.lastMessage);
      const result = { ...resultOf(end, lastMessage), ...continuationOf(session) };
      return { result, ...(lastMessage.trim() === '' ? { silent: true as const } : {}) };
    } catch (error) {
      await record(updates.finish());
      const problem = cut(recorder.redacted(messageOf(error)), 2_000);
      const blockers = error instanceof AcpFailure ? { blockers: [blockerOf(error, recorder)] } : {};
      return {
        result: {
          status: 'failed',
          summary: 'The session with the agent failed.',
          ...blockers,
          ...continuationOf(session),
        },
        error: problem,
        ...(error instanceof AgentEndedError ? { endedEarly: true } : {}),
      };
    } finally {
      clearTimeout(reportTimer);
      await terminals.close();
      agent.stdin.end();
      // Most exit when their input ends; the rest are terminated.
      await within(exitWithinMs, 'stays', agent.exited).catch(() => terminator.end('session-over'));
    }
  }

  return {
    live: session,
    async hold(writersGone) {
      const listening = Promise.all([
        pump(agent.stdout, (line) => connection.receive(line), { ended: writersGone, longest: longestFrame }).finally(
          () => connection.end(new AgentEndedError('The agent ended before its session did.')),
        ),
        pump(agent.stderr, (line) => recorder.stderr(line), { ended: writersGone }),
      ]);
      // A failure to record ends the session as well, and is what is thrown.
      listening.catch(() => undefined);
      const { endedEarly = false, ...held } = await hold();
      const [stdout, stderr] = await listening;
      await recorder.streamEnded('stdout', stdout);
      await recorder.streamEnded('stderr', stderr);
      const { error = '' } = held;
      return {
        judgedBy: 'session',
        ...held,
        // All that it wrote has been read by now.
        ...(endedEarly ? { error: withLastWords(error, recorder.lastWords) } : {}),
      };
    },
  };
}

/** Why the session failed: in the agent's words where it responded with an error. */
const messageOf = (error: unknown): string =>
  error instanceof RequestError ? agentMessage(error) : errorMessage(error);

/** The cause for programs and people, and what helps; another try meets it again. */
const blockerOf = ({ code, reason, remedy }: AcpFailure, recorder: Pick<OutputRecorder, 'redacted'>) => ({
  code,
  summary: cut(printable(recorder.redacted(reason)), 2_000),
  detail: cut(printable(recorder.redacted(remedy)), 2_000),
  retryable: code === 'handshake-timeout',
});

const idOf = (sessionId: string) => (sessionId.length > 0 && sessionId.length <= 256 ? { sessionId } : {});

/** A question that could not be asked is not a yes. */
const undecided = (): PermissionResponse => ({ optionId: undefined, decidedBy: 'system' });

/** Resolves when the agent no longer waits for the response. */
const cancelled = (signal: AbortSignal): Promise<{ optionId: undefined; decidedBy: string }> =>
  new Promise((resolve) => {
    const answer = { optionId: undefined, decidedBy: 'cancelled' };
    if (signal.aborted) {
      resolve(answer);
    } else {
      signal.addEventListener('abort', () => resolve(answer), { once: true });
    }
  });
