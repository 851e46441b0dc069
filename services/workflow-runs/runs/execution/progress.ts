import type { Graph } from '../../graph/graph';
import type { RunCheckpoint, RunRecord, Stage } from '../run';
import type { RunEvent } from './events';
import type { Guidance, Question } from './messages';

/** What a run publishes at once: the changes of its record, and the events that go with them. */
export interface RunUpdate {
  runId: string;
  /** 1, 2, 3 …: an update that was applied is not applied again. */
  version: number;
  set: Partial<Pick<RunRecord, 'status' | 'started_at' | 'ended_at' | 'error' | 'questions'>>;
  /** The checkpoint of the run; its values are those of the record. */
  checkpoint?: Omit<RunCheckpoint, 'context_values'>;
  /** Stages that are new or have changed. */
  stages: Stage[];
  /** Values that are new or have changed. */
  context: Record<string, unknown>;
  guidance: RunRecord['guidance'];
  events: { at: string; event: RunEvent }[];
}

type SaveRun = (update: RunUpdate) => Promise<void>;

/** Values of a run may have this much altogether, as JSON. */
const maxContextCharacters = 200_000;
const keptLogs = 100;

/** What a run has done, and what of it is not in its record yet. Deterministic: it is part of a workflow. */
export class RunProgress {
  readonly context: Record<string, unknown> = {};
  readonly stages: Stage[] = [];
  readonly questions: Question[] = [];
  readonly guidance: RunRecord['guidance'] = [];
  status: RunRecord['status'] = 'starting';

  readonly #visits = new Map<string, number>();
  readonly #completed: string[] = [];
  readonly #retries: Record<string, number> = {};
  readonly #outcomes: Record<string, string> = {};
  readonly #logs: string[] = [];
  #pending: Omit<RunUpdate, 'runId' | 'version'> = nothing();
  #version = 0;
  #saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly runId: string,
    private readonly graph: Graph,
    private readonly save: SaveRun,
  ) {}

  /** How often a node was visited. */
  visitsOf(nodeId: string): number {
    return this.#visits.get(nodeId) ?? 0;
  }

  /** How many nodes have been visited. */
  get steps(): number {
    return this.stages.length;
  }

  tell(event: RunEvent): void {
    this.#pending.events.push({ at: new Date().toISOString(), event });
  }

  change(set: RunUpdate['set']): void {
    if (set.status) {
      this.status = set.status;
    }
    Object.assign(this.#pending.set, set);
  }

  /** @throws Error when the values are more than a run may have */
  setValues(values: Record<string, unknown>): void {
    Object.assign(this.context, values);
    Object.assign(this.#pending.context, values);
    if (JSON.stringify(this.context).length > maxContextCharacters) {
      throw new Error(`The values of a run may have at most ${maxContextCharacters} characters altogether.`);
    }
  }

  addGuidance(guidance: Guidance): void {
    const noted = { ...guidance, at: new Date().toISOString() };
    this.guidance.push(noted);
    this.#pending.guidance.push(noted);
  }

  ask(question: Question): void {
    this.questions.push(question);
    this.change({ questions: [...this.questions] });
  }

  withdraw(question: Question): void {
    this.questions.splice(this.questions.indexOf(question), 1);
    this.change({ questions: [...this.questions] });
  }

  beginStage(nodeId: string): Stage {
    const visits = (this.#visits.get(nodeId) ?? 0) + 1;
    this.#visits.set(nodeId, visits);
    const { label, kind } = this.graph.nodes[nodeId] ?? { label: nodeId, kind: 'prompt' };
    const stage: Stage = {
      id: visits === 1 ? nodeId : `${nodeId}.${visits}`,
      name: label,
      kind,
      status: 'running',
      dot_id: nodeId,
      started_at: new Date().toISOString(),
      retries: 0,
    };
    this.stages.push(stage);
    this.tell({ StageStarted: { stage_id: stage.id, node_id: nodeId, name: label, kind } });
    this.#touch(stage);
    return stage;
  }

  endStage(stage: Stage, status: 'completed' | 'failed' | 'cancelled', fields: Partial<Stage> = {}): void {
    const ended = new Date();
    const durationMs = ended.getTime() - new Date(stage.started_at ?? ended).getTime();
    const node_id = stage.dot_id ?? stage.id;
    Object.assign(stage, fields, { status, ended_at: ended.toISOString(), duration_secs: durationMs / 1000 });
    this.#touch(stage);
    if (stage.retries > 0) {
      this.#retries[node_id] = (this.#retries[node_id] ?? 0) + stage.retries;
    }
    this.#outcomes[node_id] = status;
    this.#log(`${stage.id}: ${status}`);
    if (status === 'completed') {
      this.#completed.push(node_id);
    }
    const facts = { stage_id: stage.id, node_id, duration_ms: durationMs };
    if (status === 'completed') {
      this.tell({ StageCompleted: { ...facts, ...(stage.notes && { notes: stage.notes }) } });
    } else if (status === 'failed') {
      this.tell({ StageFailed: { ...facts, error: stage.failure_reason ?? 'It failed.' } });
    } else {
      this.tell({ StageCancelled: { stage_id: stage.id, node_id } });
    }
  }

  /** Records the checkpoint of the run, between two nodes. */
  checkpoint(current: string, next: string | undefined): void {
    this.#pending.checkpoint = {
      timestamp: new Date().toISOString(),
      current_node: current,
      completed_nodes: [...new Set(this.#completed)],
      node_retries: { ...this.#retries },
      logs: [...this.#logs],
      node_outcomes: { ...this.#outcomes },
      ...(next !== undefined && { next_node_id: next }),
    };
    this.tell({ CheckpointSaved: { node_id: current } });
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
      await this.save({ runId: this.runId, version: this.#version, ...pending });
    });
    return this.#saving;
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

const nothing = (): Omit<RunUpdate, 'runId' | 'version'> => ({
  set: {},
  stages: [],
  context: {},
  guidance: [],
  events: [],
});

const isNothing = ({
  set,
  checkpoint,
  stages,
  context,
  guidance,
  events,
}: Omit<RunUpdate, 'runId' | 'version'>): boolean =>
  !checkpoint &&
  Object.keys(set).length + stages.length + Object.keys(context).length + guidance.length + events.length === 0;
