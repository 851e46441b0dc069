import { patched } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { Graph } from '../../graph/graph';
import type { HookEvent, RunRecord, Stage, TreeBudget } from '../run';
import type { RunEvent } from './events';
import type { Guidance, Question, WebhookWait } from './messages';
import {
  begun,
  isNothing,
  type MapLists,
  nothing,
  type ProgressState,
  type RunStorage,
  type RunUpdate,
} from './progress-state';

/** Values of a run may have this much altogether, as JSON. */
const maxContextCharacters = 200_000;
const keptLogs = 100;
/** Of one update. */
const keptCheckpoints = 20;
/** Guidance is part of every later prompt. */
const maxGuidance = { pieces: 200, characters: 20_000 };

/** What a run has done, and what of it is not in its record yet. Deterministic: it is part of a workflow. */
export class RunProgress {
  readonly context: Record<string, unknown> = {};
  readonly guidance: RunRecord['guidance'] = [];
  /** Of the maps under way, and the arguments of calls of tools, by their stages. */
  readonly lists = new Map<string, MapLists>();
  /** Whether it has begun child runs. */
  hasChildren: boolean;
  status: RunRecord['status'];
  /** The latest commit of the workspace. */
  commit: string | undefined;

  readonly #questions: Set<string>;
  readonly #visits: Map<string, number>;
  readonly #completed: Set<string>;
  readonly #retries: Record<string, number>;
  readonly #outcomes: Record<string, string>;
  readonly #logs: string[];
  readonly #guidance: ProgressState['guidance'];
  /** What prompts have used. */
  readonly used: { tokens: number; cost: number };
  #steps: number;
  #pending = nothing();
  #version: number;
  /** Resolves when the values and guidance that an earlier execution has left are read. */
  readonly loaded: Promise<void>;
  /** Whatever is read or written before. */
  #saving: Promise<void>;

  constructor(
    private readonly run: { runId: string; graph: Graph; budgets: readonly TreeBudget[] },
    private readonly storage: RunStorage,
    earlier?: ProgressState,
  ) {
    const state = earlier ?? begun();
    this.status = state.status;
    this.#version = state.version;
    this.#steps = state.steps;
    this.#questions = new Set(state.questions);
    this.#visits = new Map(Object.entries(state.visits));
    this.#completed = new Set(state.completed);
    this.#retries = { ...state.retries };
    this.#outcomes = { ...state.outcomes };
    this.#logs = [...state.logs];
    this.#guidance = { ...state.guidance };
    this.used = { tokens: 0, cost: 0, ...state.used };
    this.hasChildren = state.hasChildren ?? false;
    this.commit = state.commit;
    this.loaded = earlier ? this.#load(earlier.version) : Promise.resolve();
    // An input that is refused needs none of it.
    this.loaded.catch(() => undefined);
    this.#saving = this.loaded;
  }

  /** What the next execution takes over, once everything is written. */
  state(): ProgressState {
    return {
      status: this.status,
      version: this.#version,
      steps: this.#steps,
      visits: Object.fromEntries(this.#visits),
      completed: [...this.#completed],
      retries: this.#retries,
      outcomes: this.#outcomes,
      logs: this.#logs,
      questions: [...this.#questions],
      guidance: this.#guidance,
      used: this.used,
      ...(this.hasChildren && { hasChildren: true }),
      ...(this.commit !== undefined && { commit: this.commit }),
    };
  }

  get isSaved(): boolean {
    return isNothing(this.#pending);
  }

  /** How often a node was visited. */
  visitsOf(nodeId: string): number {
    return this.#visits.get(nodeId) ?? 0;
  }

  /** How many nodes have been visited. */
  get steps(): number {
    return this.#steps;
  }

  /** Whether a question waits for its answer, or a stage for a call of its webhook. */
  isAsked(questionId: string): boolean {
    return this.#questions.has(questionId);
  }

  /** @param of what it is an event of, once in a run; absent for messages of earlier versions, which have no proof */
  record(event: RunEvent, of?: string): void {
    const at = new Date().toISOString();
    const key = of === undefined ? {} : { key: `${Object.keys(event)[0] ?? ''}/${of}` };
    this.#pending.events.push({ at, event, ...key });
  }

  /** What an event of the last visit of a node is of. */
  visit(nodeId: string): string {
    return `${nodeId}.${this.visitsOf(nodeId)}`;
  }

  change(set: RunUpdate['set']): void {
    if (set.status) {
      this.status = set.status;
    }
    Object.assign(this.#pending.set, set);
  }

  /** @throws Error when the values would be more than a run may have: none of them is set then */
  setValues(values: Record<string, unknown>): void {
    const isTooMuch = JSON.stringify({ ...this.context, ...values }).length > maxContextCharacters;
    // Runs of earlier versions have set them nevertheless.
    if (!isTooMuch || !patched('bounded-values')) {
      Object.assign(this.context, values);
      Object.assign(this.#pending.context, values);
    }
    if (isTooMuch) {
      throw new Error(`The values of a run may have at most ${maxContextCharacters} characters altogether.`);
    }
  }

  /** Whether the run may be given this as well: prompts hold all of its guidance. */
  hasRoomFor(guidance: Guidance): boolean {
    const { pieces, characters } = this.#guidance;
    return pieces < maxGuidance.pieces && characters + lengthOf(guidance) <= maxGuidance.characters;
  }

  /** Counts guidance against the limits of the run, or, when it was refused after all, no longer. */
  countGuidance(guidance: Guidance, by: 1 | -1 = 1): void {
    this.#guidance.pieces += by;
    this.#guidance.characters += by * lengthOf(guidance);
  }

  addGuidance(guidance: Guidance): void {
    const noted = { ...guidance, at: new Date().toISOString() };
    this.guidance.push(noted);
    this.#pending.guidance.push(noted);
  }

  /** Takes over guidance that the record of the run begins with. */
  inheritGuidance(guidance: RunRecord['guidance']): void {
    guidance.forEach((each) => this.countGuidance(each));
    this.guidance.push(...guidance);
  }

  ask(question: Question): void {
    this.#questions.add(question.id);
    this.#pending.asked.push(question);
  }

  awaitWebhook(webhook: WebhookWait): void {
    this.#questions.add(webhook.stage_id);
    this.#pending.webhooks.push(webhook);
  }

  withdraw(questionId: string): void {
    this.#questions.delete(questionId);
    this.#pending.withdrawn.push(questionId);
  }

  withdrawAll(): void {
    [...this.#questions].forEach((id) => this.withdraw(id));
  }

  beginStage(nodeId: string): Stage {
    const visits = (this.#visits.get(nodeId) ?? 0) + 1;
    this.#visits.set(nodeId, visits);
    const { label, kind } = this.run.graph.nodes[nodeId] ?? { label: nodeId, kind: 'prompt' };
    const stage: Stage = {
      id: visits === 1 ? nodeId : `${nodeId}.${visits}`,
      name: label,
      kind,
      status: 'running',
      dot_id: nodeId,
      started_at: new Date().toISOString(),
      retries: 0,
    };
    this.#steps += 1;
    this.record({ StageStarted: { stage_id: stage.id, node_id: nodeId, name: label, kind } }, stage.id);
    this.#touch(stage);
    return stage;
  }

  /** Begins the work of a map for one item of its list. */
  beginItem(map: Stage, index: number, kind: string): Stage {
    const stage: Stage = {
      id: `${map.id}:${index}`,
      name: cut(`${map.name} [${index}]`, 200),
      ...{ kind, parent: map.id, status: 'running', retries: 0, started_at: new Date().toISOString() },
      ...(map.dot_id !== undefined && { dot_id: map.dot_id }),
    };
    this.#steps += 1;
    const node_id = map.dot_id ?? map.id;
    this.record({ StageStarted: { stage_id: stage.id, node_id, name: stage.name, kind } }, stage.id);
    this.#touch(stage);
    return stage;
  }

  /** Begins a command of the setup. */
  beginSetup(index: number, command: string): Stage {
    return this.#beginCommand({ id: `setup:${index}`, name: command, parent: 'setup' });
  }

  /** Begins a hook, at a stage or at the run. */
  beginHook({ name, event }: { name: string; event: HookEvent }, index: number, at?: Stage): Stage {
    this.#steps += 1;
    const parent = at?.id ?? 'hooks';
    return this.#beginCommand({ id: `${parent}:${event}:${index}`, name, parent, hook: event });
  }

  #beginCommand({ name, ...fields }: { id: string; name: string; parent: string; hook?: HookEvent }): Stage {
    const stage: Stage = {
      ...fields,
      ...{ name: cut(name, 200), kind: 'command', status: 'running' },
      ...{ retries: 0, started_at: new Date().toISOString() },
    };
    const { id, kind, parent } = { ...stage, ...fields };
    this.record({ StageStarted: { stage_id: id, node_id: parent, name: stage.name, kind } }, id);
    this.#touch(stage);
    return stage;
  }

  /** Notes the child run of a stage. */
  beginChild(stage: Stage, runId: string): void {
    stage.child_run = runId;
    this.record({ ChildRunStarted: { stage_id: stage.id, run_id: runId } }, runId);
    this.#touch(stage);
  }

  /** Notes the attempt of the board that a stage waits for. */
  noteAgent(stage: Stage, agent: NonNullable<Stage['agent']>): void {
    stage.agent = agent;
    this.record({ AgentLaunched: { stage_id: stage.id, ...agent } }, agent.attempt_id);
    this.#touch(stage);
  }

  /** Notes the approval of the board that a stage waits for, or that it waits for none any more. */
  noteTool(stage: Stage, tool: Stage['tool']): void {
    delete stage.tool;
    Object.assign(stage, tool && { tool });
    this.#touch(stage);
  }

  endStage(stage: Stage, status: 'completed' | 'failed' | 'cancelled', fields: Partial<Stage> = {}): void {
    const ended = new Date();
    const durationMs = ended.getTime() - new Date(stage.started_at ?? ended).getTime();
    const node_id = stage.dot_id ?? stage.id;
    Object.assign(stage, fields, { status, ended_at: ended.toISOString(), duration_secs: durationMs / 1000 });
    this.#touch(stage);
    if (fields.usage) {
      const { input_tokens, output_tokens, cost } = fields.usage;
      this.used.tokens += input_tokens + output_tokens;
      // Runs with a budget of money have models with prices alone.
      this.used.cost += cost ?? 0;
    }
    if (stage.retries > 0) {
      this.#retries[node_id] = (this.#retries[node_id] ?? 0) + stage.retries;
    }
    // An item of a map is no visit of its node.
    const isVisit = stage.parent === undefined;
    if (isVisit) {
      this.#outcomes[node_id] = status;
    }
    this.#log(`${stage.id}: ${status}`);
    if (isVisit && status === 'completed') {
      this.#completed.add(node_id);
    }
    const facts = { stage_id: stage.id, node_id, duration_ms: durationMs };
    if (status === 'completed') {
      const { notes, stop_reason } = stage;
      const reported = { ...(notes && { notes }), ...(stop_reason && { stop_reason }) };
      this.record({ StageCompleted: { ...facts, ...reported } }, stage.id);
    } else if (status === 'failed') {
      this.record({ StageFailed: { ...facts, error: stage.failure_reason ?? 'It failed.' } }, stage.id);
    } else {
      this.record({ StageCancelled: { stage_id: stage.id, node_id } }, stage.id);
    }
  }

  /** Records the checkpoint of the run, between two nodes, with the visit of the first for its id. */
  checkpoint(current: string, { next, id }: { next: string; id: string }): void {
    const checkpoint = {
      id,
      timestamp: new Date().toISOString(),
      current_node: current,
      completed_nodes: [...this.#completed],
      node_retries: { ...this.#retries },
      logs: [...this.#logs],
      node_outcomes: { ...this.#outcomes },
      next_node_id: next,
      ...(this.commit !== undefined && { git_commit_sha: this.commit }),
    };
    this.#pending.checkpoints = [...this.#pending.checkpoints.slice(1 - keptCheckpoints), checkpoint];
    this.record({ CheckpointSaved: { node_id: current, checkpoint_id: id } }, id);
  }

  /** Writes down what has changed since the last time; resolves when all of it is. One write at a time, in order. */
  flush(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      const pending = this.#pending;
      if (isNothing(pending)) {
        return;
      }
      this.#pending = nothing();
      this.#version += 1;
      const budgets = this.run.budgets.map(({ run_id }) => run_id);
      const used = budgets.length > 0 ? { used: { budgets, ...this.used } } : {};
      await this.storage.save({ runId: this.run.runId, version: this.#version, ...pending, ...used });
    });
    return this.#saving;
  }

  async #load(version: number): Promise<void> {
    const { context, guidance, lists = {} } = await this.storage.load(version);
    Object.entries(lists).forEach(([stageId, each]) => this.lists.set(stageId, each));
    Object.assign(this.context, context);
    this.guidance.unshift(...guidance);
  }

  #touch(stage: Stage): void {
    const others = this.#pending.stages.filter(({ id }) => id !== stage.id);
    this.#pending.stages = [...others, { ...stage }];
  }

  #log(line: string): void {
    this.#logs.push(line);
    if (this.#logs.length > keptLogs) {
      this.#logs.shift();
    }
  }
}

const lengthOf = ({ text, file = '' }: Guidance): number => text.length + file.length;
