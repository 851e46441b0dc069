import fc from 'fast-check';
import { compileGraph, GraphError } from './compile';
import { joinOf } from './structure';

const problemsOf = (source: string): readonly string[] => {
  try {
    compileGraph(source);
    return [];
  } catch (error) {
    if (error instanceof GraphError) {
      return error.problems;
    }
    throw error;
  }
};
const around = (body: string): string => `digraph g { start -> a; a -> exit; ${body} }`;

describe('workflow graph compiler', () => {
  it('reads nodes, their kinds, defaults and attributes', () => {
    const graph = compileGraph(`
    // what a person would write
    digraph Release {
      graph [goal="Ship it"]
      node [max_retries=0]
      start [shape=Mdiamond]
      draft [label="Write it", prompt="Write \\"notes\\" for $goal", model="fast", max_tokens=100, timeout="30s"]
      subgraph cluster_review { node [max_retries=3]; review [shape=hexagon, label="Good?"] }
      exit [shape=Msquare]
      start -> draft -> review
      review -> exit [label="[Y] Yes"]
      review -> draft [label="Change it", weight=2]
    }`);
    expect(graph).toMatchObject({ name: 'Release', goal: 'Ship it', start: 'start' });
    expect(graph.nodes.draft).toEqual({
      id: 'draft',
      kind: 'prompt',
      label: 'Write it',
      prompt: 'Write "notes" for $goal',
      model: 'fast',
      maxTokens: 100,
      maxRetries: 0,
      timeoutMs: 30_000,
    });
    expect(graph.nodes.review).toMatchObject({
      kind: 'human',
      maxRetries: 3,
      question: {
        text: 'Good?',
        type: 'multiple_choice',
        options: [
          { key: 'Y', label: '[Y] Yes' },
          { key: 'change-it', label: 'Change it' },
        ],
        allowFreeform: false,
      },
    });
    expect(graph.edges).toContainEqual({
      from: 'review',
      to: 'draft',
      label: 'Change it',
      option: 'change-it',
      weight: 2,
    });
  });

  it.each([
    ['npm test', ['npm', 'test']],
    [
      `  git  commit -m 'my "own" $x' --flag="a b" c\\ d '' `,
      ['git', 'commit', '-m', 'my "own" $x', '--flag=a b', 'c d', ''],
    ],
    ['["sh", "-c", "echo hi | wc"]', ['sh', '-c', 'echo hi | wc']],
  ])('reads the command %s without a shell', (command, argv) => {
    const written = command.replaceAll('"', '\\"');
    const graph = compileGraph(around(`a [type=command, command="${written}", max_visits=3, retry_delay="5s"]`));
    expect(graph.nodes.a).toMatchObject({ kind: 'command', command: { argv }, maxRetries: 0, retryDelayMs: 5_000 });
  });

  it('takes start and exit by their names, and reads chains, groups and conditions', () => {
    const graph = compileGraph(
      'digraph { start -> {a b}; {a b} -> exit [condition="outcome=success && x != \\"no\\""] }',
    );
    expect(graph.edges).toHaveLength(4);
    expect(graph.edges[2]?.condition).toEqual([
      { name: 'outcome', operator: '=', value: 'success' },
      { name: 'x', operator: '!=', value: 'no' },
    ]);
  });

  it.each([
    ['no graph at all', 'hello', /cannot be read/],
    ['half a graph', 'digraph { a -> ', /cannot be read/],
    ['a graph without directions', 'graph { start -- exit }', /directed/],
    ['no start', 'digraph { a -> exit }', /one start/],
    ['two starts', 'digraph { start -> exit; b [shape=Mdiamond]; b -> exit }', /has 2/],
    ['no exit', 'digraph { start -> a }', /needs an exit/],
    ['a node nothing leads to', around('lost -> exit'), /"lost" \(line \d+, column \d+\) is unreachable/],
    [
      'a node that leads nowhere',
      around('a -> stuck; stuck -> stuck'),
      /No path leads from node "stuck" \(line \d+, column \d+\)/,
    ],
    ['a way on behind the exit', around('exit -> a'), /nothing follows/],
    ['an unknown type', around('a [type=magic]'), /^Node "a" \(line 1, column 36\): its type must be one of/],
    [
      'a condition on its line',
      'digraph {\n start -> a -> exit\n a -> exit [condition="a b"] }',
      /^Edge a -> exit \(line 3, column 2\): its condition/,
    ],
    ['a map without items', around('a [type=map]'), /^Node "a" \(line 1, column 36\): a map needs items/],
    ['a map of what has no list', around('a [type=map, items="x y"]'), /a map needs items/],
    [
      'a map of questions',
      around('a [type=map, items=x, each=human]'),
      /each must be one of prompt, command, child, agent, tool/,
    ],
    ['a map of too many at a time', around('a [type=map, items=x, concurrency=21]'), /concurrency must be .* 1 to 20/],
    ['items of a prompt', around('a [items=x]'), /items is of nodes with type=map only/],
    ['a map of commands without one', around('a [type=map, items=x, each=command]'), /needs command=/],
    ['an agent with a task and a prompt', around('a [type=agent, task="task_1", prompt=x]'), /not both/],
    ['an agent in a phase that is none', around('a [type=agent, phase=build]'), /phase must be one of explore, plan/],
    ['an agent whose name is none', around('a [type=agent, agent="a b"]'), /agent must be a name of the board/],
    ['a tool of no server', around('a [type=tool, tool=x]'), /a tool needs server, the id of a tool server/],
    ['a tool whose name is a value', around('a [type=tool, server=s, tool="${x}"]'), /only its arguments hold values/],
    [
      'arguments that are no object',
      around('a [type=tool, server=s, tool=x, arguments="[1]"]'),
      /must be a JSON object/,
    ],
    ['a completion of a prompt', around('a [completion=any]'), /completion is of nodes with type=parallel only/],
    ['a join of some', around('p [type=parallel, completion=some]'), /completion must be all or any/],
    [
      'a fast failure of any',
      around('p [type=parallel, completion=any, fail_fast=true]'),
      /fail_fast is of nodes with completion=all/,
    ],
    ['tools that are no names', around('a [tools="a b"]'), /tools must be up to 100 names/],
    ['turns without tools', around('a [max_turns=2]'), /max_turns needs tools/],
    ['tools of a command', around('a [type=command, command=x, tools=s]'), /tools is of prompts/],
    ['a tool of a prompt', around('a [server=s]'), /server is of nodes with type=tool, and of maps with each=tool/],
    ['an agent of a prompt', around('a [agent=x]'), /agent is of nodes with type=agent, and of maps with each=agent/],
    ['a child of no workflow', around('a [type=child]'), /\(line 1, column 36\): a child needs workflow/],
    ['a workflow of a prompt', around('a [workflow=x]'), /workflow is of nodes with type=child, and of maps with/],
    [
      'a child with one value twice',
      around('a [type=child, workflow=x, vars="a=b, a=c"]'),
      /vars must be up to 100 pairs/,
    ],
    ['a child with half a value', around('a [type=child, workflow=x, vars="a"]'), /vars must be up to 100 pairs/],
    ['an output that is no value', around('a [type=child, workflow=x, output="1 + 1"]'), /output must be the name/],
    ['an unknown shape', around('a [shape=diamnd]'), /its shape must be one of Mdiamond/],
    [
      'an unknown attribute of a node',
      'digraph {\n  a [promt=x]\n}',
      /^Line 2, column 6: "promt" is no attribute of a node/,
    ],
    ['an unknown default', 'digraph { node [retries=3] }', /"retries" is no attribute of a node/],
    ['an unknown attribute of an edge', around('a -> exit [conditon="x=1"]'), /"conditon" is no attribute of an edge/],
    ['an unknown attribute of the graph', around('gaol="Ship"'), /"gaol" is no attribute of a graph/],
    ['HTML for a text', around('a [label=<<b>x</b>>]'), /HTML strings are not read.*\(line 1, column 45\)/],
    ['an edge without direction', around('a -- exit'), /directed graph: write -> \(line 1/],
    ['a text without end', around('a [label="x]'), /a quoted text has no end/],
    ['a comment without end', around('/* '), /a comment has no end/],
    ['a second graph', 'digraph { start -> exit } digraph { a }', /expected the end of the text.*column 27/],
    ['a name that begins like a number', around('a -> 2nd -> exit'), /needs quotes/],
    ['a word of the language as a name', around('a -> node -> exit'), /expected a node or a subgraph, found "node"/],
    ['a sum of names', around('a + b -> exit'), /cannot be read/],
    [
      'a goal of a subgraph',
      'digraph {\n subgraph s {\n  goal="x" } }',
      /Line 3, column 3: "goal" belongs to the graph, not to a subgraph/,
    ],
    ['a loop limit of a subgraph', around('{ graph [loop_limit=2]; b }'), /"loop_limit" belongs to the graph/],
    ['a name of what every object has', around('toString -> exit; a -> toString'), /its name must be/],
    ['a limit of none', around('a [max_visits=0]'), /max_visits must be/],
    ['a loop limit that is no number', around('loop_limit=often'), /loop_limit must be/],
    [
      'a choice whose label no key can be made of',
      around('a [shape=hexagon]; a -> exit [label="👍"]'),
      /has no letter or digit/,
    ],
    ['a schema that is no JSON', around(`a [output_schema="{type: string}"]`), /output_schema must be a JSON schema/],
    ['a schema of a person', around('a [shape=hexagon, output_schema="{}"]'), /of prompts and commands only/],
    ['a budget of nothing', around('budget_tokens=0'), /budget_tokens must be/],
    ['a budget that is no amount', around('budget_cost="1e3"'), /budget_cost must be/],
    ['a budget of a subgraph', around('{ graph [budget_time="1h"]; b }'), /"budget_time" belongs to the graph/],
    ['models without a name between them', around('a [fallback_models="x,,y"]'), /fallback_models must be/],
    ['a wrong duration', around('a [timeout="soon"]'), /timeout must be a duration/],
    ['a command without one', around('a [type=command]'), /needs command=/],
    [
      'a command of another type',
      around('a [command="ls"]'),
      /command is of nodes with type=command, and of maps with each=command, only/,
    ],
    ['a quote without end', around(`a [type=command, command="ls 'x"]`), /needs command=/],
    ['a program that a value names', around('a [type=command, command="${x} y"]'), /must be written out/],
    ['a list that is none', around('a [type=command, command="[1]"]'), /needs command=/],
    ['a directory above', around('a [type=command, command=ls, directory="a/../../b"]'), /without \.\./],
    ['a directory of the host', around('a [type=command, command=ls, directory="/etc"]'), /within the workspace/],
    ['a wait without a duration', around('a [type=wait]'), /needs a duration/],
    ['too many retries', around('a [max_retries=99]'), /max_retries must be/],
    ['a condition that is none', around('a -> exit [condition="if it is good"]'), /condition must be/],
    ['a choice without options', around('a [shape=hexagon, question_type=multi_select]'), /needs options/],
    [
      'two options with one key',
      around('a [shape=hexagon]; a -> exit [label="Yes"]; a -> a [label="yes"]'),
      /same key/,
    ],
    ['a name that is a path', around('"../etc" -> exit; a -> "../etc"'), /its name must be/],
    ['a name every object has', around('constructor -> exit; a -> constructor'), /its name must be/],
    [
      'parallel branches that never meet',
      around('a -> p; p [type=parallel]; p -> x -> exit; p -> y -> exit'),
      /one join/,
    ],
    ['one parallel branch', around('a -> p; p [type=parallel]; p -> j; j [type=join]; j -> exit'), /at least two/],
  ])('refuses %s', (_case, source, message) => {
    expect(problemsOf(source).join(' ')).toMatch(message);
  });

  it('reads maps of prompts, commands and child runs, with their limits', () => {
    const { nodes } = compileGraph(`digraph { start -> a -> b -> c -> exit
      a [type=map, items="plan_output.files", prompt="Read \${item}"]
      b [type=map, items=list, each=command, command="cat \${item}", concurrency=2, max_items=5, max_failures=1]
      c [type=map, items=list, each=child, workflow=review, vars="file=item, at=item_index", output="check_output.score"] }`);
    expect(nodes.a).toMatchObject({
      ...{ kind: 'map', prompt: 'Read ${item}', maxRetries: 2 },
      map: { items: ['plan_output', 'files'], each: 'prompt', concurrency: 4, maxItems: 100, maxFailures: 0 },
    });
    expect(nodes.b).toMatchObject({
      ...{ kind: 'map', command: { argv: ['cat', '${item}'] }, maxRetries: 0 },
      map: { items: ['list'], each: 'command', concurrency: 2, maxItems: 5, maxFailures: 1 },
    });
    expect(nodes.c).toMatchObject({
      map: { each: 'child' },
      child: {
        ...{ workflow: 'review', output: ['check_output', 'score'] },
        vars: [
          ['file', ['item']],
          ['at', ['item_index']],
        ],
      },
    });
  });

  it('reads agents that a board launches', () => {
    const { nodes } = compileGraph(`digraph { start -> a -> b -> exit
      a [type=agent, prompt="Build \${name}", repository=app, agent=claude, fallback_agents="codex, other", phase=implement,
        sandbox=closed, model=fast, commits=required, profile=builder, max_retries=1]
      b [type=map, items=list, each=agent, task="\${item}"] }`);
    expect(nodes.a).toMatchObject({
      ...{ kind: 'agent', prompt: 'Build ${name}', maxRetries: 1 },
      agent: {
        ...{ repository: 'app', agent: 'claude', fallbacks: ['codex', 'other'], phase: 'implement', sandbox: 'closed' },
        ...{ model: 'fast', commits: 'required', profile: 'builder' },
      },
    });
    expect(nodes.a).not.toHaveProperty('model');
    expect(nodes.b).toMatchObject({ map: { each: 'agent' }, agent: { task: '${item}' }, maxRetries: 0 });
    expect(nodes.b).not.toHaveProperty('prompt');
  });

  it('refuses graphs that are too large', () => {
    expect(problemsOf('x'.repeat(100_001))[0]).toMatch(/characters/);
    const nodes = Array.from({ length: 201 }, (_, index) => `start -> n${index} -> exit`);
    expect(problemsOf(`digraph { ${nodes.join(';')} }`)[0]).toMatch(/at most 200 nodes/);
  });

  it('finds where branches meet, also those with branches within', () => {
    const graph = compileGraph(`digraph {
    p [type=parallel]; q [type=parallel]; j [type=join]; k [type=join];
    start -> p; p -> a -> j; p -> q; q -> b -> k; q -> c -> k; k -> d -> j; j -> exit
  }`);
    expect(joinOf(graph, 'p')).toBe('j');
    expect(joinOf(graph, 'q')).toBe('k');
  });

  it('never fails in another way, whatever the text', () => {
    const words = fc.constantFrom(
      'digraph',
      '{',
      '}',
      '->',
      'start',
      'exit',
      'a',
      '[',
      ']',
      'label',
      '=',
      '"x"',
      ';',
      ',',
      '<',
      '//',
    );
    const text = fc.oneof(
      fc.array(words, { maxLength: 30 }).map((list) => list.join(' ')),
      fc.string({ maxLength: 100 }),
    );
    fc.assert(
      fc.property(text, (source) => void problemsOf(source)),
      { numRuns: 300 },
    );
  });

  it('reads labels in any script, a byte order mark, and what only changes the drawing', () => {
    const graph = compileGraph(`\uFEFFdigraph { rankdir=LR; node [fontname="sans", color=red]
      start -> ask; ask [shape=hexagon, label="Готово?"]; ask -> exit [label="Да, готово", penwidth=2]; ask -> ask [label="ещё нет"] }`);
    expect(graph.nodes.ask?.question?.options).toEqual([
      { key: 'да-готово', label: 'Да, готово' },
      { key: 'ещё-нет', label: 'ещё нет' },
    ]);
  });

  it('reads what the language allows: sums of texts, subgraphs as ends, ports, names of any script, comments', () => {
    const graph = compileGraph(`# made by hand
    STRICT digraph "Release" + " 1" {
      start -> подготовка:n -> { node [max_retries=1]; b [prompt="x" + /* and */ "y"]; c } -> d:w:sw
      subgraph cluster_end { label="End"; d [label="2"] [prompt="z"] } -> exit;
    }`);
    expect(graph.name).toBe('Release 1');
    expect(graph.edges.map(({ from, to }) => `${from} ${to}`)).toEqual(
      expect.arrayContaining(['start подготовка', 'подготовка b', 'подготовка c', 'b d', 'c d', 'd exit']),
    );
    expect(graph.edges).toHaveLength(6);
    expect(graph.nodes).toMatchObject({
      b: { prompt: 'xy', maxRetries: 1 },
      c: { maxRetries: 1 },
      d: { prompt: 'z', maxRetries: 2 },
    });
  });

  it('reads line breaks in texts, as the language writes them and real ones', () => {
    const graph = compileGraph(`digraph { goal="one\\ntwo"; start -> a -> exit
      a [prompt="one\\ntwo\nthree\\lfour \\\\n five \\
six \\d \\"q\\"", label="L\\nM"] }`);
    expect(graph.goal).toBe('one\ntwo');
    expect(graph.nodes.a).toMatchObject({ prompt: 'one\ntwo\nthree\nfour \\n five six \\d "q"', label: 'L\nM' });
  });

  it('takes a name for the same however its letters are composed', () => {
    const graph = compileGraph(
      'digraph { start -> "\u00e9"; "e\u0301" -> exit [condition="e\u0301_output=x"]; "\u00e9" -> exit }',
    );
    expect(Object.keys(graph.nodes)).toEqual(['start', '\u00e9', 'exit']);
    expect(graph.edges[1]?.condition).toEqual([{ name: '\u00e9_output', operator: '=', value: 'x' }]);
  });

  it('reads limits of loops', () => {
    const graph = compileGraph(
      'digraph { loop_limit=3; start -> a; a [max_visits=2]; a -> a [max_traversals=1]; a -> exit }',
    );
    expect(graph).toMatchObject({ loopLimit: 3, nodes: { a: { maxVisits: 2 } } });
    expect(graph.edges[1]).toMatchObject({ maxTraversals: 1 });
  });

  it('refuses what a few characters multiply, while it is read', () => {
    const list = (prefix: string) => Array.from({ length: 150 }, (_, index) => `${prefix}${index}`).join(' ');
    expect(problemsOf(`digraph { {${list('a')}} -> {${list('b')}} }`)).toEqual(['A graph may have at most 200 nodes.']);
    expect(problemsOf(`digraph { {${list('a')}} -> {${list('a')}} }`)).toEqual([
      'A graph may have at most 1000 edges.',
    ]);
    const nodes = Array.from({ length: 150 }, (_, index) => `n${index}`).join(' -> ');
    const prompts = `node [prompt="${'x'.repeat(19_000)}"]`;
    expect(
      problemsOf(`digraph { start -> n0; ${prompts}; ${nodes} -> exit; start [prompt=""]; exit [prompt=""] }`),
    ).toEqual([
      expect.stringMatching(/^With its defaults in every node the graph has \d+ bytes, at most 1000000 are run/),
    ]);
  });

  it('follows branches that lead back to their fan once', () => {
    const back = `digraph { p [shape=component]; p -> a -> p; p -> b -> p; p -> c -> p; start -> p; a -> exit }`;
    expect(problemsOf(back)).toEqual([expect.stringContaining('branches do not all lead to one join')]);
    const fans = Array.from({ length: 30 }, (_, index) => `f${index} [shape=component]; `).join('');
    const each = Array.from({ length: 30 }, (_, index) =>
      Array.from({ length: 30 }, (_, other) => (other === index ? '' : `f${index} -> f${other};`)).join(''),
    ).join('');
    expect(problemsOf(`digraph { start -> f0; ${fans} ${each} f1 -> exit }`)).not.toEqual([]);
  });

  it('finds the join of branches within branches, however deep', () => {
    const deep = 60;
    const levels = Array.from(
      { length: deep },
      (_, n) =>
        `p${n} [shape=component]; j${n} [shape=tripleoctagon]; p${n} -> p${n + 1}; p${n} -> j${n}; j${n + 1} -> j${n};`,
    ).join('\n');
    const graph = compileGraph(`digraph { start -> p0; ${levels}
      p${deep} [shape=component]; j${deep} [shape=tripleoctagon]; p${deep} -> x -> j${deep}; p${deep} -> y -> j${deep}; j0 -> exit }`);
    expect(joinOf(graph, 'p0')).toBe('j0');
    expect(joinOf(graph, `p${deep}`)).toBe(`j${deep}`);
  });
});
