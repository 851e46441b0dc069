import { z } from 'zod';
import { approvalActionClass, approvalRisk } from '../../../contracts/runs/approval';
import { compact } from '../../../platform/json/compact';
import type { Redactor } from '../../../platform/log/redact';
import type { AnsweredQuestions } from '../detached/detached-agent';
import type { SpawnedAgent } from '../local/spawn-agent';
import type { AgentSink } from '../provider';
import type { AgentQuestion, AgentResponse } from '../question';
import { parseLine } from './parse-line';

/** Questions of one agent that are open at a time, and in all. A flood of them is a fault of the agent. */
const limits = { open: 16, total: 500 };

const brace = 0x7b;

const plain = z.record(z.string(), z.unknown());

/** Fields of an `approval` line besides those every one has; what is not valid is left to the defaults. */
const optional = {
  id: z.string().min(1).max(200),
  resourceScope: z.array(z.string().max(1_000)).max(100),
  riskClass: approvalRisk,
  expiresInSeconds: z.number().min(1).max(86_400),
};

const valid = <T>(schema: z.ZodType<T>, value: unknown): T | undefined => schema.safeParse(value).data;

/** The question in a line of output, if there is one. */
export function questionIn(text: string, count: number): AgentQuestion | undefined {
  const { kind, payload } = parseLine(text);
  if (kind !== 'approval.requested') {
    return undefined;
  }
  const { action, actionClass: requestedClass } = payload as { action: string; actionClass: string };
  const actionClass = valid(approvalActionClass, requestedClass);
  const details = valid(plain, payload.details) ?? (payload.details === undefined ? {} : { value: payload.details });
  const resourceScope = valid(optional.resourceScope, payload.resourceScope);
  const riskClass = valid(optional.riskClass, payload.riskClass);
  const seconds = valid(optional.expiresInSeconds, payload.expiresInSeconds);
  return {
    requestId: valid(optional.id, payload.id) ?? `approval-${count}`,
    requestKind: actionClass === 'elicitation' ? 'elicitation' : 'approval',
    actionClass: actionClass ?? 'tool',
    action,
    details: actionClass === undefined ? { ...details, actionClass: requestedClass } : details,
    ...compact({ resourceScope, riskClass }),
    ...(seconds === undefined ? {} : { lifetimeMs: seconds * 1_000 }),
  };
}

const refused = (decidedBy: string, note: string): AgentResponse => ({ decision: 'rejected', decidedBy, note });

/**
 * Passes an agent's questions on while its output is read on, and responds to each with a line of its input. An agent that
 * has gone, or does not read, gets no more responses.
 */
export class PermissionRequester {
  private readonly over = new AbortController();
  private open = 0;
  private total = 0;

  private readonly decide: AgentSink['decide'];
  private readonly redact: Redactor;
  /** Of an agent that outlives its worker: a question that has a response is not asked again. */
  private readonly answered?: AnsweredQuestions;

  constructor(
    private readonly agent: Pick<SpawnedAgent, 'deliver'>,
    { decide, redact, answered }: { decide: AgentSink['decide']; redact: Redactor; answered?: AnsweredQuestions },
  ) {
    this.decide = decide;
    this.redact = redact;
    this.answered = answered;
  }

  /** Whether the line was a question, and is seen to. */
  receive(line: Buffer): boolean {
    const { decide } = this;
    // Cheap for every other line of an agent.
    if (!decide || line[0] !== brace || !line.includes('"approval"')) {
      return false;
    }
    const question = questionIn(line.toString('utf8'), this.total + 1);
    if (!question) {
      return false;
    }
    this.total += 1;
    if (this.answered?.has(question.requestId) !== true) {
      void this.request(this.clean(question), decide);
    }
    return true;
  }

  /** No question waits for a response any more. */
  end(): void {
    this.over.abort(new Error('The agent has ended.'));
  }

  /** A question is shown and stored: it must not contain the agent's secrets. */
  private clean(question: AgentQuestion): AgentQuestion {
    return JSON.parse(JSON.stringify(question), (_, value: unknown) => {
      if (typeof value === 'string') {
        return this.redact(value);
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return value;
      }
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [this.redact(name), item]));
    }) as AgentQuestion;
  }

  private async request(question: AgentQuestion, decide: NonNullable<AgentSink['decide']>): Promise<void> {
    const { signal } = this.over;
    const answer =
      this.open >= limits.open || this.total > limits.total
        ? refused('system:limits', 'Too many open permission requests.')
        : await this.decided(question, decide);
    if (signal.aborted) {
      return;
    }
    const { decidedBy: _decidedBy, ...response } = answer;
    const { delivered } = await this.agent.deliver(
      JSON.stringify({ type: 'approval', id: question.requestId, ...response }),
    );
    // A worker that dies in between, or a full disk, leaves the response to be sent once more, under the same id.
    if (delivered) {
      await this.answered?.add(question.requestId).catch(() => undefined);
    }
  }

  private async decided(question: AgentQuestion, decide: NonNullable<AgentSink['decide']>): Promise<AgentResponse> {
    this.open += 1;
    try {
      return await decide(question, this.over.signal);
    } catch {
      // Whatever failed, the agent must not take silence for a yes.
      return refused('system', 'The permission request could not be delivered.');
    } finally {
      this.open -= 1;
    }
  }
}
