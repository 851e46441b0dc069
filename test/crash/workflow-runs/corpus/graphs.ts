/** A graph, and how a run of it ends: its status, why it failed, and its stages by name, `!` failed and `~` cancelled. */
export type GoldenGraph = [title: string, dot: string, end: string];

const g = (body: string): string => `digraph { ${body} }`;
/** A stage that fails: no one calls its webhook in time. */
const failing = 'type=webhook, timeout="20ms"';
const notCalled = 'Its webhook was not called in time.';
const soon = 'type=wait, duration="20ms"';
const never = 'type=wait, duration="1h"';
const list = `prompt="[1, 2, 3]", output_schema="{\\"type\\":\\"array\\"}"`;
const object = `prompt="{\\"n\\": 3, \\"ok\\": true, \\"of\\": {\\"a\\": [1, 2]}}", output_schema="{\\"type\\":\\"object\\"}"`;
const both = 'p [type=parallel]; j [type=join]; start -> p; p -> a -> j; p -> b -> j; j -> exit;';

const straight: GoldenGraph[] = [
  ['nothing at all', g('start -> exit'), 'completed: exit start'],
  ['a prompt', g('start -> a -> exit; a [prompt=x]'), 'completed: a exit start'],
  [
    'a chain',
    g('start -> a -> b -> c -> exit; a [shape=diamond]; b [shape=diamond]; c [shape=diamond]'),
    'completed: a b c exit start',
  ],
  ['a start by its shape', g('go [shape=Mdiamond]; go -> exit'), 'completed: exit go'],
  ['an exit by its shape', g('start -> stop; stop [shape=Msquare]'), 'completed: start stop'],
  [
    'two exits',
    g('start -> a; a [shape=diamond]; a -> one [weight=2]; a -> two; one [shape=Msquare]; two [shape=Msquare]'),
    'completed: a one start',
  ],
  ['a wait', g(`start -> a -> exit; a [${soon}]`), 'completed: a exit start'],
  [
    'a fail node',
    g('start -> a; a [shape=diamond]; a -> f [weight=1]; a -> exit; f [type=fail, label=Enough]'),
    'failed (It came to Enough.): a f start',
  ],
  ['a failure without a way on', g(`start -> a -> exit; a [${failing}]`), `failed (${notCalled}): a! start`],
  [
    'a failure with a way on',
    g(`start -> a -> exit; a -> b [condition="outcome=fail"]; b -> exit; b [shape=diamond]; a [${failing}]`),
    'completed: a! b exit start',
  ],
  [
    'a way on for another outcome',
    g(`start -> a; a -> exit [condition="outcome=success"]; a -> b; b -> exit; b [shape=diamond]; a [${failing}]`),
    `failed (${notCalled}): a! start`,
  ],
  [
    'a budget of time',
    g(`budget_time="300ms"; start -> a -> exit; a [${never}]`),
    'failed (The time that its budget allows is over.): a~ start',
  ],
  [
    'a budget of tokens',
    g('budget_tokens=100; start -> a -> b -> exit; a [prompt=x]; b [prompt=y]'),
    'failed (It has used 1050 of 100 tokens, so that b is not asked.): a start',
  ],
  [
    'unicode names',
    g('start -> début -> 終 -> exit; début [shape=diamond]; 終 [shape=diamond]'),
    'completed: début exit start 終',
  ],
  [
    'a subgraph with defaults',
    g('subgraph s { node [shape=diamond]; a; b }; start -> a -> b -> exit'),
    'completed: a b exit start',
  ],
  [
    'ends of edges that are sets',
    g('a [shape=diamond]; b [shape=diamond]; start -> {a}; {a} -> {b exit}; b -> exit'),
    'completed: a b exit start',
  ],
];

/** Decides by the values that every run of the corpus begins with. */
const decided = (condition: string): string =>
  g(
    `start -> d; d [shape=diamond]; d -> yes [condition="${condition}"]; d -> no; yes -> exit; no -> exit; yes [shape=diamond]; no [shape=diamond]`,
  );
const yes = 'completed: d exit start yes';
const no = 'completed: d exit no start';

/** Values that a run begins with. */
export const values = { n: 3, ok: true, verdict: 'It is LGTM now', phrase: 'well done' };

const decisions: GoldenGraph[] = [
  ['an equal value', decided('n=3'), yes],
  ['an unequal value', decided('n!=3'), no],
  ['a smaller number', decided('n<10'), yes],
  ['a greater or equal number', decided('n>=4'), no],
  ['an order of what is no number', decided('phrase<10'), no],
  ['a value that is there', decided('ok'), yes],
  ['a value that is not there', decided('lost'), no],
  ['not', decided('!(n=3)'), no],
  ['not of what is not there', decided('!lost'), yes],
  ['and', decided('n=3 && ok'), yes],
  ['or', decided('n=4 || ok'), yes],
  ['and, which binds closer than or', decided('ok || lost && lost'), yes],
  ['parentheses', decided('(ok || lost) && lost'), no],
  ['a text with spaces', decided('phrase=\\"well done\\"'), yes],
  ['contains', decided('verdict contains LGTM'), yes],
  [
    'a part of JSON',
    g(
      `start -> v -> d; v [${object}]; d [shape=diamond]; d -> exit [condition="v_output.of.a.1=2 && !v_output.of.b"]; d -> f [weight=0]; f [type=fail]`,
    ),
    'completed: d exit start v',
  ],
  [
    'the heaviest of two that hold',
    g(
      'start -> d; d [shape=diamond]; d -> a [condition="outcome=success"]; d -> b [condition="outcome=success", weight=5]; a -> exit; b -> exit; a [shape=diamond]; b [shape=diamond]',
    ),
    'completed: b d exit start',
  ],
];

const loops: GoldenGraph[] = [
  [
    'so many turns',
    g('start -> a; a [shape=diamond]; a -> a [weight=1, max_traversals=3]; a -> exit'),
    'completed: a a.2 a.3 a.4 exit start',
  ],
  [
    'a limit of visits',
    g('start -> a; a [shape=diamond, max_visits=3]; a -> a [weight=1]; a -> exit'),
    'failed (It came to a more than 3 times, which is its limit.): a a.2 a.3 start',
  ],
  [
    'a limit of the graph',
    g('loop_limit=2; start -> a; a [shape=diamond]; a -> a [weight=1]; a -> exit'),
    'failed (It came to a more than 2 times, which is its limit.): a a.2 start',
  ],
  [
    'back after a failure',
    g(`start -> a; a -> a [condition="outcome=fail", max_traversals=1]; a -> exit; a [${failing}]`),
    `failed (${notCalled}): a! a.2! start`,
  ],
  [
    'a loop of two',
    g('a [shape=diamond]; b [shape=diamond]; start -> a -> b; b -> a [weight=1, max_traversals=1]; b -> exit'),
    'completed: a a.2 b b.2 exit start',
  ],
];

const branches: GoldenGraph[] = [
  ['two branches', g(`${both} a [${soon}]; b [${soon}]`), 'completed: a b exit j p start'],
  ['a branch that fails', g(`${both} a [${failing}]; b [${soon}]`), `failed (${notCalled}): a! b j p start`],
  [
    'a branch that fails, and a way on',
    g(`${both} j -> exit [condition="outcome=fail"]; a [${failing}]; b [${soon}]`),
    'completed: a! b exit j p start',
  ],
  [
    'any branch',
    g(`${both.replace('type=parallel', 'type=parallel, completion=any')} a [${soon}]; b [${never}]`),
    'completed: a b~ exit j p start',
  ],
  [
    'any branch after a failure',
    g(
      `${both.replace('type=parallel', 'type=parallel, completion=any')} a [${failing}]; b [type=wait, duration="200ms"]`,
    ),
    'completed: a! b exit j p start',
  ],
  [
    'no branch at all',
    g(`${both.replace('type=parallel', 'type=parallel, completion=any')} a [${failing}]; b [${failing}]`),
    `failed (${notCalled}): a! b! j p start`,
  ],
  [
    'a fast failure',
    g(`${both.replace('type=parallel', 'type=parallel, fail_fast=true')} a [${failing}]; b [${never}]`),
    `failed (${notCalled}): a! b~ j p start`,
  ],
  [
    'branches in a branch',
    g(
      `${both} a [type=parallel]; k [type=join]; a -> c -> k; a -> d -> k; k -> j; b [${soon}]; c [${soon}]; d [${soon}]`,
    ).replace('p -> a -> j;', 'p -> a;'),
    'completed: a b c d exit j k p start',
  ],
];

const maps: GoldenGraph[] = [
  [
    'a map',
    g(`start -> v -> m -> exit; v [${list}]; m [type=map, items=v_output, prompt="\${item}"]`),
    'completed: exit m m:0 m:1 m:2 start v',
  ],
  [
    'a map of what is no list',
    g(`start -> v -> m -> exit; v [${object}]; m [type=map, items=v_output, prompt=x]`),
    'failed (v_output is no list.): m! start v',
  ],
  [
    'a map of a part',
    g(`start -> v -> m -> exit; v [${object}]; m [type=map, items="v_output.of.a", prompt=x]`),
    'completed: exit m m:0 m:1 start v',
  ],
  [
    'a map of too much',
    g(`start -> v -> m -> exit; v [${list}]; m [type=map, items=v_output, max_items=2, prompt=x]`),
    'failed (v_output has 3 items, and the map takes 2.): m! start v',
  ],
];

/** Fifty graphs, each with its golden end. */
export const goldenGraphs: readonly GoldenGraph[] = [...straight, ...decisions, ...loops, ...branches, ...maps];
