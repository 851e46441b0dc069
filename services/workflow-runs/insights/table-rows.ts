import { retroItemOf } from '../retros/retro';
import { hasEnded, type RunRecord } from '../runs/run';
import { usageOf } from '../usage/usage';
import type { Signoff } from '../verification/signoff';
import type { Cell } from './cells';
import type { TableName } from './tables';

/** In the order of the columns. */
export type Row = readonly Cell[];
export type Rows = Record<TableName, Row[]>;

export const noRows = (): Rows => ({ runs: [], stages: [], retros: [], signoffs: [], usage: [] });

const longestText = 2_000;
/** Long texts are cut: queries are about numbers, and everything is in memory. A character is not cut in two. */
const short = (text: string | undefined): string | null =>
  text === undefined ? null : text.slice(0, longestText).replace(/[\ud800-\udbff]$/, '');

const secondsBetween = (from: string | undefined, to: string | undefined): number | null =>
  from === undefined || to === undefined ? null : (Date.parse(to) - Date.parse(from)) / 1000;

/** Adds the facts of a run to the rows of the tables. */
export function addRun(rows: Rows, run: RunRecord): void {
  const { _id, title, workflow, status, goal, created_by, created_at, started_at, ended_at, stages, error } = run;
  const { slug, name } = workflow;
  const times = [created_at, started_at ?? null, ended_at ?? null, secondsBetween(started_at, ended_at)];
  const end = [stages.length, run.smoothness ?? null, short(error?.message)];
  rows.runs.push([_id, short(title), slug, name, status, short(goal), created_by, ...times, ...end]);
  rows.stages.push(...stageRows(run));
  for (const { model, stages: count, usage } of usageOf(run).by_model) {
    rows.usage.push([_id, slug, model.id, count, usage.input_tokens, usage.output_tokens, usage.cost]);
  }
  if (hasEnded(status)) {
    rows.retros.push(retroRow(run));
  }
}

const stageRows = ({ _id, stages }: RunRecord): Row[] =>
  stages.map((stage, position) => [
    ...[_id, position, stage.id, short(stage.name), stage.dot_id ?? null, stage.kind, stage.status],
    ...[stage.started_at ?? null, stage.ended_at ?? null, stage.duration_secs ?? null, stage.retries],
    ...[stage.model ?? null, stage.usage?.input_tokens ?? null, stage.usage?.output_tokens ?? null],
    ...[stage.usage?.cost ?? null, short(stage.notes), short(stage.failure_reason)],
  ]);

function retroRow(run: RunRecord): Row {
  const { workflow, timestamp, smoothness, stats, friction_point_count } = retroItemOf(run);
  return [
    ...[run._id, workflow.slug, timestamp, smoothness ?? null, stats.total_duration_ms, stats.total_cost ?? null],
    ...[stats.total_retries, stats.stages_completed, stats.stages_failed, friction_point_count],
  ];
}

export const signoffRow = ({ id, control, repository, created_at, ...signoff }: Signoff): Row => [
  ...[id, control.slug, repository.name, signoff.commit_sha, signoff.status, signoff.url ?? null],
  ...[short(signoff.description), signoff.source ?? null, created_at],
];
