import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { nodeKinds } from '../../../../services/workflow-runs/graph/graph';
import type { Engine } from './engine';

/** A type of stage, and how a run of it comes to the middle of it. */
export interface MatrixRow {
  kind: (typeof nodeKinds)[number];
  /** The graph behind `start`, whose stage `a` is killed in the middle. */
  graph: string;
  /** It goes on by itself, and is started right before the kill. */
  isShort?: boolean;
  /** Fails until it is in the middle. */
  inMiddle: (engine: Engine, id: string) => Promise<void>;
  /** Lets it go on, where opening all does not. */
  release?: (engine: Engine, id: string) => Promise<void>;
  status?: 'failed';
  /** The ids of its stages at its end. */
  stages: string[];
  /** Of its input, each counted once: an answer of the model has 1,000. */
  tokens?: number;
  /** Expects that what it does outside of the run was done once. */
  check?: (engine: Engine, id: string) => Promise<void> | void;
}

const linesOf = (file: string): number => readFileSync(file, 'utf8').trim().split('\n').length;
const isRunning = async ({ call }: Engine, id: string): Promise<void> => {
  const { data } = await call(`/runs/${id}/stages`);
  expect(data.find((stage) => stage.id === 'a')).toMatchObject({ status: 'running' });
};
const isAsked =
  (line: string, times = 1): MatrixRow['inMiddle'] =>
  ({ models }) => {
    expect(models.asked(line)).toBeGreaterThanOrEqual(times);
    return Promise.resolve();
  };
const answer = async ({ call }: Engine, id: string): Promise<void> => {
  await call(`/runs/${id}/questions/a/answer`, { value: 'yes' });
};
const list = `'${JSON.stringify(['x', 'y', 'z']).replaceAll('"', '\\"')}'`;
export const childGraph = 'digraph Matrixchild { start -> a -> exit; a [shape=hexagon, label="Go?"] }';
const childOf = async ({ call }: Engine, id: string): Promise<string> => {
  const { data } = await call(`/runs?parent=${id}`);
  expect(data).toHaveLength(1);
  return String(data[0]!.id);
};
const usual = ['start', 'a', 'exit'];

/** Each type of stage once; `start` and `exit` are in each graph, and the loop has those that take no time. */
export const matrixRows: MatrixRow[] = [
  {
    kind: 'prompt',
    graph: 'a -> exit; a [prompt="HOLD prompt", max_retries=10]',
    inMiddle: isAsked('HOLD prompt'),
    stages: usual,
    tokens: 1_000,
  },
  {
    kind: 'prompt',
    graph: 'a -> exit; a [prompt="TOOLS hold", tools="ledger", max_retries=10]',
    isShort: true,
    inMiddle: isAsked('TOOLS hold'),
    stages: usual,
    tokens: 2_000,
    check: ({ written }) => expect(written('append TOOLS hold')).toBe(1),
  },
  {
    kind: 'human',
    graph: 'a -> exit; a [shape=hexagon, label="Go?"]',
    inMiddle: async ({ call }, id) => expect((await call(`/runs/${id}/questions`)).data).toHaveLength(1),
    release: answer,
    stages: usual,
  },
  {
    kind: 'webhook',
    graph: 'a -> exit; a [type=webhook]',
    inMiddle: async ({ call }, id) => expect((await call(`/runs/${id}/webhooks`)).data).toHaveLength(1),
    async release({ call }, id) {
      const { data } = await call(`/runs/${id}/webhooks`);
      await call(new URL(String(data[0]!.url)).pathname, { state: 'good' });
    },
    stages: usual,
    check: async ({ call }, id) =>
      expect(await call(`/runs/${id}/context`)).toMatchObject({ a_output: { state: 'good' } }),
  },
  {
    kind: 'command',
    graph: `a -> exit; a [type=command, command="sh -c 'echo x >> begun; until test -e go; do sleep 0.05; done; echo x >> ended'"]`,
    inMiddle: async ({ workspace }, id) => expect(linesOf(join(workspace(id), 'begun'))).toBeGreaterThanOrEqual(1),
    release: async ({ workspace }, id) => writeFileSync(join(workspace(id), 'go'), ''),
    stages: usual,
    check: ({ workspace }, id) => expect(linesOf(join(workspace(id), 'ended'))).toBe(1),
  },
  {
    kind: 'parallel',
    graph: `a -> b -> j; a -> c -> j; j -> exit; a [shape=component]; j [shape=tripleoctagon]
      b [prompt="HOLD branch", max_retries=10]; c [prompt="HOLD branch", max_retries=10]`,
    inMiddle: isAsked('HOLD branch', 2),
    stages: ['start', 'a', 'b', 'c', 'j', 'exit'],
    tokens: 2_000,
  },
  {
    kind: 'map',
    graph: `l -> a -> exit; l [type=command, command="printf %s ${list}", output_schema="{\\"type\\":\\"array\\"}"]
      a [type=map, items=l_output, prompt="HOLD item-\${item}", max_retries=10]`,
    inMiddle: ({ models }) => {
      expect(['x', 'y', 'z'].map((item) => models.asked(`HOLD item-${item}`) > 0)).toEqual([true, true, true]);
      return Promise.resolve();
    },
    stages: ['start', 'l', 'a', 'a:0', 'a:1', 'a:2', 'exit'],
    tokens: 3_000,
    check: async ({ call }, id) =>
      expect(await call(`/runs/${id}/context`)).toMatchObject({
        a_output: ['x', 'y', 'z'].map((item) => `answer to HOLD item-${item}`),
      }),
  },
  {
    kind: 'child',
    graph: 'a -> exit; a [type=child, workflow=matrixchild, output=a_answer]',
    async inMiddle(engine, id) {
      expect((await engine.call(`/runs/${await childOf(engine, id)}/questions`)).data).toHaveLength(1);
    },
    release: async (engine, id) => answer(engine, await childOf(engine, id)),
    stages: usual,
    async check(engine, id) {
      expect(await engine.call(`/runs/${await childOf(engine, id)}`)).toMatchObject({ status: 'completed' });
      expect(await engine.call(`/runs/${id}/context`)).toMatchObject({ a_output: 'yes' });
    },
  },
  {
    kind: 'tool',
    graph: 'a -> exit; a [type=tool, server=ledger, tool=hold, arguments="{\\"line\\":\\"tool\\"}"]',
    inMiddle: ({ written }) => {
      expect(written('hold tool')).toBe(1);
      return Promise.resolve();
    },
    stages: usual,
    check: ({ written }) => expect(written('hold tool')).toBe(1),
  },
  {
    kind: 'agent',
    graph: 'a -> exit; a [type=agent, repository=sample, prompt="Work"]',
    isShort: true,
    inMiddle: isRunning,
    stages: usual,
    tokens: 10,
    async check({ board, call }, id) {
      const tasks = await board.call.ok('GET', '/api/tasks');
      expect(JSON.stringify(tasks).match(/"title":"a"/g)).toHaveLength(1);
      const { data } = await call(`/runs/${id}/stages`);
      const { task_id: task, attempt_id: attempt } = data[1]!.agent as { task_id: string; attempt_id: string };
      const { attempts } = await board.call.ok('GET', `/api/agents/${task}/attempts`);
      expect(attempts).toMatchObject([{ id: attempt, completion: { status: 'success' } }]);
    },
  },
  {
    kind: 'wait',
    graph: 'a -> exit; a [type=wait, duration="3s"]',
    isShort: true,
    inMiddle: isRunning,
    stages: usual,
  },
  {
    kind: 'fail',
    graph: 'a -> f; f [type=fail]; a [type=wait, duration="3s"]; a -> exit [condition="outcome=fail"]',
    isShort: true,
    inMiddle: isRunning,
    status: 'failed',
    stages: ['start', 'a', 'f'],
  },
  {
    kind: 'decision',
    graph: 'a -> b; b -> a [weight=1, max_traversals=99]; b -> exit; a [shape=diamond]; b [shape=diamond]',
    isShort: true,
    async inMiddle({ call }, id) {
      expect((await call(`/runs/${id}/stages`)).data.length).toBeGreaterThan(5);
    },
    stages: [
      'start',
      ...Array.from({ length: 100 }, (_, n) => ['a', 'b'].map((name) => (n === 0 ? name : `${name}.${n + 1}`))).flat(),
      'exit',
    ],
  },
];
