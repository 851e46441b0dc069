import { createRedactor } from '../../platform/log/redact';
import { eventually } from '../../platform/testing/eventually';
import { PermissionRequester, questionIn } from '../../providers/agents/process/permission-requests';
import type { AgentQuestion, AgentResponse } from '../../providers/agents/question';

const line = (id?: string, more: object = {}): Buffer =>
  Buffer.from(JSON.stringify({ type: 'approval', action: 'push', actionClass: 'tool', ...(id && { id }), ...more }));

/** An agent that asks, with those who decide. */
function asking(decide: ((question: AgentQuestion, signal: AbortSignal) => Promise<AgentResponse>) | undefined) {
  const reported: (AgentResponse & { id: string })[] = [];
  const answered = new Set<string>();
  const agent = {
    reads: true,
    deliver: async (text: string) => {
      if (agent.reads) {
        reported.push(JSON.parse(text) as (typeof reported)[number]);
      }
      return agent.reads ? { delivered: true as const } : { delivered: false as const, reason: 'gone' };
    },
  };
  const remembered = { has: (id: string) => answered.has(id), add: async (id: string) => void answered.add(id) };
  const requester = new PermissionRequester(agent as unknown as ConstructorParameters<typeof PermissionRequester>[0], {
    decide,
    redact: createRedactor(['hunter2-is-long']),
    answered: remembered,
  });
  return { requester, reported, answered, agent };
}
const approved: AgentResponse = { decision: 'approved', decidedBy: 'ada' };
const turn = () => new Promise(setImmediate);
const never = () => new Promise<AgentResponse>(() => undefined);

it('answers a question that could not be asked with no', async () => {
  const { requester, reported } = asking(() => Promise.reject(new Error('the stores are away')));
  expect(requester.receive(line('one'))).toBe(true);
  await eventually(() => expect(reported).toHaveLength(1));
  expect(reported[0]).toMatchObject({ type: 'approval', id: 'one', decision: 'rejected' });
});

it('reports what was decided, and not by whom', async () => {
  const { requester, reported, answered } = asking(async () => approved);
  requester.receive(line('one'));
  await eventually(() => expect(answered).toEqual(new Set(['one'])));
  expect(reported).toEqual([{ type: 'approval', id: 'one', decision: 'approved' }]);
});

it('asks sixteen questions at a time and answers those beyond with no', async () => {
  const decide = jest.fn(never);
  const { requester, reported } = asking(decide);
  for (let n = 1; n <= 17; n += 1) {
    requester.receive(line(`q${n}`));
  }
  await eventually(() => expect(reported).toHaveLength(1));
  expect(reported[0]).toMatchObject({ id: 'q17', decision: 'rejected', note: 'Too many open permission requests.' });
  expect(decide).toHaveBeenCalledTimes(16);
});

it('asks five hundred questions in all, one after the other, and none after that', async () => {
  const decide = jest.fn(async () => approved);
  const { requester, reported } = asking(decide);
  for (let n = 1; n <= 501; n += 1) {
    requester.receive(line(`q${n}`));
    await turn();
  }
  expect(reported).toHaveLength(501);
  expect(reported[499]).toMatchObject({ decision: 'approved' });
  expect(reported[500]).toMatchObject({ decision: 'rejected', note: 'Too many open permission requests.' });
  expect(decide).toHaveBeenCalledTimes(500);
});

it('counts a question whose asking failed as open no more', async () => {
  const { requester, reported } = asking(() => Promise.reject(new Error('away')));
  for (let n = 1; n <= 40; n += 1) {
    requester.receive(line(`q${n}`));
    await turn();
  }
  expect(reported).toHaveLength(40);
  expect(reported.at(-1)).toMatchObject({ note: 'The permission request could not be delivered.' });
});

it('answers nothing once the agent has ended', async () => {
  let decided: (answer: AgentResponse) => void = () => undefined;
  const signals: AbortSignal[] = [];
  const { requester, reported } = asking((_, signal) => {
    signals.push(signal);
    return new Promise((resolve) => (decided = resolve));
  });
  requester.receive(line('one'));
  requester.end();
  expect(signals[0]?.aborted).toBe(true);
  decided(approved);
  await turn();
  expect(reported).toEqual([]);
});

it('asks again what was answered and not read, and nothing that was', async () => {
  const decide = jest.fn(async () => approved);
  const { requester, reported, answered, agent } = asking(decide);
  agent.reads = false;
  requester.receive(line('one'));
  await turn();
  expect(answered.size).toBe(0);
  agent.reads = true;
  requester.receive(line('one'));
  await eventually(() => expect(answered).toEqual(new Set(['one'])));
  expect(requester.receive(line('one'))).toBe(true);
  await turn();
  expect(decide).toHaveBeenCalledTimes(2);
  expect(reported).toHaveLength(1);
});

it('continues when an answer cannot be kept, as on a full disk', async () => {
  const deliver = async () => ({ delivered: true as const });
  const tried: string[] = [];
  const add = (id: string) => {
    tried.push(id);
    return Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }));
  };
  const agent = { deliver } as unknown as ConstructorParameters<typeof PermissionRequester>[0];
  const uncaught = jest.fn();
  process.on('unhandledRejection', uncaught);
  const requester = new PermissionRequester(agent, {
    decide: async () => approved,
    redact: createRedactor([]),
    answered: { has: () => false, add },
  });
  for (const id of ['one', 'two']) {
    requester.receive(line(id));
  }
  await eventually(() => expect(tried).toEqual(['one', 'two']));
  await turn();
  process.off('unhandledRejection', uncaught);
  expect(uncaught).not.toHaveBeenCalled();
});

it('does not reveal what the agent was given as a secret', async () => {
  const questions: AgentQuestion[] = [];
  const { requester } = asking(async (question) => {
    questions.push(question);
    return approved;
  });
  requester.receive(line('one', { details: { list: ['hunter2-is-long'], 'hunter2-is-long': null } }));
  await eventually(() => expect(questions).toHaveLength(1));
  expect(JSON.stringify(questions)).not.toContain('hunter2');
});

it.each([
  ['is no object', Buffer.from('"approval"')],
  ['is of another type', Buffer.from('{"type":"message","text":"\\"approval\\""}')],
  ['is no JSON', Buffer.from('{"approval"')],
])('leaves alone a line that %s', (_, text) => {
  expect(asking(async () => approved).requester.receive(text)).toBe(false);
});

it('leaves questions alone where no policy decides', () => {
  expect(asking(undefined).requester.receive(line('one'))).toBe(false);
});

describe('a question is passed on', () => {
  const asked = (more: object) => questionIn(line('one', more).toString(), 3);

  it('with its details, its scope, its risk and its time', () => {
    const whole = { details: { branch: 'main' }, resourceScope: ['repo'], riskClass: 'high', expiresInSeconds: 60 };
    const { expiresInSeconds: _seconds, ...reported } = whole;
    expect(asked(whole)).toEqual({
      requestId: 'one',
      requestKind: 'approval',
      actionClass: 'tool',
      action: 'push',
      lifetimeMs: 60_000,
      ...reported,
    });
  });

  it('with what is to be had of one that leaves things out', () => {
    const text = JSON.stringify({ type: 'approval', action: 'push', actionClass: 'tool' });
    expect(questionIn(text, 3)).toMatchObject({ requestId: 'approval-3', details: {} });
    expect(asked({ details: 'main' })).toMatchObject({ details: { value: 'main' } });
    expect(asked({ actionClass: 'elicitation' })).toMatchObject({ requestKind: 'elicitation' });
    expect(asked({ actionClass: 'magic' })).toMatchObject({ actionClass: 'tool', details: { actionClass: 'magic' } });
  });

  it('and nothing else is one', () => {
    expect(questionIn('{"type":"message","text":"approval"}', 1)).toBeUndefined();
  });
});
