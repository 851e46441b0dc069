import type {
  GateStep,
  LaunchingStep,
  LoopStep,
  ParallelStep,
  ToolStep,
  WorkflowDefinition,
  WorkflowStep,
  WorkflowVariables,
} from '../../contracts/runs/workflows/definition';
import { compact } from '../../platform/json/compact';
import type { Condition, Graph, GraphEdge, GraphNode } from '../../services/workflow-runs/graph/graph';
import { launchNode } from './launch-node';
import { isIssues, readCondition, type ValueNames, valueNames } from './names';
import { graphText } from './templates';
import { toolNode } from './tool-node';
import { writeNode } from './write-node';

/** Nodes that no step is called like: ids of steps have no dots. */
export const ends = { start: '.start', exit: '.exit', fail: '.fail' } as const;
const outputAt = (at: number): string => `.output.${at + 1}`;
const failed: Condition = [{ name: 'outcome', operator: '=', value: 'fail' }];
const usualReroutes = 10;
const usualIterations = 20;

/** Options of every question to a person. */
const decisions = [
  { key: 'approve', label: 'Approve' },
  { key: 'reject', label: 'Reject' },
];

/** A graph, and which of its nodes belong to each step. */
export interface CompiledDefinition {
  graph: Graph;
  nodesOf: Record<string, string[]>;
}

/** Where an edge leads: to a node, or into the step with an id, wherever that begins. */
type Target = string | { step: string };

/**
 * Compiles a definition that has no issues into the graph of the workflow-run engine. Loops over lists are unrolled, with the
 * values that the run has.
 */
export function compileDefinition(
  definition: WorkflowDefinition,
  values: WorkflowVariables = definition.variables ?? {},
): CompiledDefinition {
  const compiler = new Compiler(definition, values);
  const end = definition.outputTargets ? outputAt(0) : ends.exit;
  definition.steps.forEach((step, at) => {
    const following = definition.steps[at + 1];
    compiler.step(step, following ? { step: following.id } : end);
  });
  compiler.outputs();
  return compiler.finish();
}

class Compiler {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #edges: (Omit<GraphEdge, 'to'> & { to: Target })[] = [];
  readonly #entries = new Map<string, Target>();
  readonly #nodesOf = new Map<string, string[]>();
  readonly #known: ValueNames;

  constructor(
    private readonly definition: WorkflowDefinition,
    private readonly values: WorkflowVariables,
  ) {
    this.#known = valueNames(definition);
  }

  step(step: WorkflowStep, next: Target): void {
    this.#nodesOf.set(step.id, []);
    const entry = this.#own(step, next);
    if (step.type === 'gate' || step.condition === undefined) {
      this.#entries.set(step.id, entry);
      return;
    }
    const id = `${step.id}.if`;
    this.#node({ id, kind: 'decision', label: `${labelOf(step)}?` });
    this.#edge(id, entry, { condition: this.#condition(step.condition), label: 'yes' });
    this.#edge(id, step.on_false === 'fail' ? ends.fail : next, { label: 'no' });
    this.#entries.set(step.id, id);
  }

  /** What is written once the steps have come to their end, one after the other. */
  outputs(): void {
    const targets = this.definition.outputTargets ?? [];
    targets.forEach((target, at) => {
      this.#node(writeNode(target, outputAt(at)));
      this.#edge(outputAt(at), at + 1 < targets.length ? outputAt(at + 1) : ends.exit);
    });
  }

  finish(): CompiledDefinition {
    const [first] = this.definition.steps;
    this.#node({ id: ends.start, kind: 'start', label: 'Start' });
    this.#node({ id: ends.exit, kind: 'exit', label: 'End' });
    this.#edge(ends.start, { step: first?.id ?? '' });
    const edges = this.#edges.map(({ to, ...edge }) => ({ ...edge, to: this.#resolve(to) }));
    if (edges.some(({ to }) => to === ends.fail)) {
      this.#node({ id: ends.fail, kind: 'fail', label: 'a step that failed, or was rejected' });
    }
    const { timeout } = this.definition.config ?? {};
    const whole: Graph = {
      name: this.definition.name,
      start: ends.start,
      nodes: Object.fromEntries(this.#nodes),
      edges,
      ...compact({ budget: timeout === undefined ? undefined : { timeMs: timeout * 1_000 } }),
    };
    return { graph: reachable(whole), nodesOf: Object.fromEntries(this.#nodesOf) };
  }

  #resolve(target: Target): string {
    let at = target;
    // A step that is passed over, since its list is empty, leads to the one behind it.
    while (typeof at !== 'string') {
      at = this.#entries.get(at.step) ?? ends.exit;
    }
    return at;
  }

  /** @returns where the step begins */
  #own(step: WorkflowStep, next: Target): Target {
    switch (step.type) {
      case 'agent':
        return this.#launch(step, { id: step.id, owner: step.id, next, failure: this.#failure(step, step.id, next) });
      case 'loop':
        return step.loop.over === undefined ? this.#repeat(step, next) : this.#unrolled(step, step.loop.over, next);
      case 'gate':
        return this.#gate(step, next);
      case 'parallel':
        return this.#parallel(step, next);
      case 'tool':
        return this.#tool(step, next);
    }
  }

  /** A node that launches an agent. */
  #launch(
    step: LaunchingStep,
    {
      id,
      owner,
      next,
      failure,
      items,
    }: { id: string; owner: string; next: Target; failure: (from: string) => void; items?: Record<string, string> },
  ): string {
    this.#node(launchNode(step, { id, definition: this.definition, ...compact({ items }) }), owner, step.id);
    this.#edge(id, next);
    failure(id);
    return id;
  }

  /** What follows when a step has failed for good. */
  #failure({ on_fail: onFail = {} }: Pick<LaunchingStep, 'on_fail'>, owner: string, next: Target) {
    return (from: string): void => {
      if (onFail.retry_step !== undefined) {
        this.#edge(
          from,
          { step: onFail.retry_step },
          {
            condition: failed,
            weight: 2,
            maxTraversals: onFail.max_reroutes ?? usualReroutes,
            label: 'failed',
          },
        );
      }
      const then = onFail.on_exhausted ?? onFail.escalate_to;
      if (then === 'skip') {
        this.#edge(from, next, { condition: failed, weight: 1, label: 'failed' });
      } else if (then === 'human') {
        const gate = this.#question(owner, next, { text: 'The step failed. Continue with the next one?' });
        this.#edge(from, gate, { condition: failed, weight: 1, label: 'failed' });
      }
    };
  }

  #question(
    owner: string,
    next: Target,
    { text, timeoutMs }: { text: string; timeoutMs?: number | undefined },
  ): string {
    const id = `${owner}.gate`;
    this.#node(
      {
        ...{ id, kind: 'human', label: `${owner}: approval` },
        ...compact({ timeoutMs }),
        question: { text, type: 'multiple_choice', options: decisions, allowFreeform: true },
      },
      owner,
    );
    this.#edge(id, next, { option: 'approve', label: 'Approve' });
    this.#edge(id, ends.fail, { option: 'reject', label: 'Reject' });
    return id;
  }

  #gate(step: GateStep, next: Target): string {
    const timeoutMs = step.timeout === undefined ? undefined : step.timeout * 1_000;
    const text = graphText(step.input ?? `Approve ${labelOf(step)}?`);
    if (step.condition !== undefined) {
      this.#node({ id: step.id, kind: 'decision', label: labelOf(step) }, step.id);
      this.#edge(step.id, next, { condition: this.#condition(step.condition), label: 'yes' });
      const otherwise = step.on_false === 'human' ? this.#question(step.id, next, { text, timeoutMs }) : ends.fail;
      this.#edge(step.id, otherwise, { label: 'no' });
      return step.id;
    }
    this.#node(
      {
        ...{ id: step.id, kind: 'human', label: labelOf(step) },
        ...compact({ timeoutMs }),
        question: { text, type: 'multiple_choice', options: decisions, allowFreeform: true },
      },
      step.id,
    );
    this.#edge(step.id, next, { option: 'approve', label: 'Approve' });
    this.#edge(step.id, ends.fail, { option: 'reject', label: 'Reject' });
    return step.id;
  }

  #parallel(step: ParallelStep, next: Target): string {
    const { id } = step;
    const { completion, fail_fast } = step.parallel;
    const join = `${id}.join`;
    const isAny = completion === 'any';
    const ending = { ...(isAny && { completion }), ...(fail_fast === true && { failFast: true as const }) };
    const parallel = isAny || fail_fast === true ? { parallel: ending } : {};
    this.#node({ id, kind: 'parallel', label: labelOf(step), ...parallel }, id);
    this.#node({ id: join, kind: 'join', label: `${labelOf(step)}: ${isAny ? 'one succeeded' : 'all ended'}` }, id);
    for (const branch of step.parallel.steps) {
      this.#nodesOf.set(branch.id, []);
      const failure = this.#failure(branch, branch.id, join);
      this.#edge(id, this.#launch(branch, { id: branch.id, owner: branch.id, next: join, failure }));
    }
    this.#edge(join, next);
    this.#failure({ on_fail: step.on_fail }, id, next)(join);
    return id;
  }

  #tool(step: ToolStep, next: Target): string {
    const { id } = step;
    this.#node(toolNode(step), id);
    this.#edge(id, next);
    this.#failure(step, id, next)(id);
    return id;
  }

  /** A step that repeats until its condition holds. */
  #repeat(step: LoopStep, next: Target): string {
    const { id, loop } = step;
    const until = `${id}.until`;
    const failure = this.#failure(step, id, next);
    this.#launch(step, { id, owner: id, next: until, failure });
    this.#node({ id: until, kind: 'decision', label: `${labelOf(step)}: done?` });
    this.#edge(until, next, { condition: this.#condition(loop.completion ?? ''), label: 'done' });
    this.#edge(until, id, { weight: 1, maxTraversals: (loop.max_iterations ?? usualIterations) - 1, label: 'again' });
    this.#edge(until, ends.fail, { label: 'too often' });
    return id;
  }

  /** A step for every item of a list, one after the other. */
  #unrolled(step: LoopStep, over: string, next: Target): Target {
    const { id, loop } = step;
    const list = this.values[over];
    const items = (Array.isArray(list) ? list : []).slice(0, loop.max_iterations ?? usualIterations);
    const nodeAt = (at: number): string => `${id}.${at + 1}`;
    const untilSuccess = loop.completion === 'first_success';
    items.forEach((item, at) => {
      const isLast = at === items.length - 1;
      const following: Target = isLast ? next : nodeAt(at + 1);
      const goesOn = (untilSuccess && !isLast) || (loop.continue_on_error === true && !untilSuccess);
      this.#launch(step, {
        id: nodeAt(at),
        owner: id,
        next: untilSuccess ? next : following,
        failure: goesOn
          ? (from) => this.#edge(from, following, { condition: failed, weight: 1, label: 'failed' })
          : this.#failure(step, id, next),
        items: { [loop.item_var ?? 'item']: item },
      });
    });
    return items.length === 0 ? next : nodeAt(0);
  }

  #condition(written: string): Condition {
    const read = readCondition(written, '', this.#known);
    return isIssues(read) ? [] : read;
  }

  #node(node: Omit<GraphNode, 'maxRetries'> & { maxRetries?: number }, ...owners: string[]): void {
    this.#nodes.set(node.id, { maxRetries: 0, ...node });
    for (const owner of new Set(owners)) {
      this.#nodesOf.set(owner, [...new Set([...(this.#nodesOf.get(owner) ?? []), node.id])]);
    }
  }

  #edge(from: string, to: Target, fields: Partial<Omit<GraphEdge, 'from' | 'to'>> = {}): void {
    this.#edges.push({ from, to, weight: 0, ...fields });
  }
}

const labelOf = ({ id, name }: Pick<WorkflowStep, 'id' | 'name'>): string => name ?? id;

/** The part of a graph that its start leads to. */
function reachable(graph: Graph): Graph {
  const seen = new Set([graph.start]);
  for (const id of seen) {
    graph.edges.filter(({ from }) => from === id).forEach(({ to }) => seen.add(to));
  }
  return {
    ...graph,
    nodes: Object.fromEntries(Object.entries(graph.nodes).filter(([id]) => seen.has(id))),
    edges: graph.edges.filter(({ from }) => seen.has(from)),
  };
}

/** The same graph, but beginning at one of its nodes: what a run does that continues where another one failed. */
export function beginningAt(graph: Graph, node: string): Graph {
  const edges = graph.edges.filter(({ from }) => from !== graph.start);
  return reachable({ ...graph, edges: [{ from: graph.start, to: node, weight: 0 }, ...edges] });
}
