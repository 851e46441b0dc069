import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Task } from '../../api/client';
import { count, money, shortId } from '../../ui/figures';
import { Icon } from '../../ui/icon';
import { Badge } from '../../ui/parts';
import { Ago, Elapsed } from '../../ui/time';
import { priorityLabel, runState } from '../status';
import s from './board.module.css';
import { agentOf } from './columns';

/** What a run does now, or how the last one ended, in one line. */
function RunLine({ task }: { task: Task }) {
  const state = runState(task);
  const { attempt } = task;
  if (!state || !attempt) {
    return null;
  }
  return (
    <span className={s.run}>
      <Badge tone={state.tone} icon={state.icon}>
        {state.label}
      </Badge>
      <span className="cut">{attempt.agent}</span>
      <span className="grow" />
      {attempt.started ? (
        attempt.status === 'running' ? (
          <Elapsed since={attempt.started} />
        ) : (
          <Ago at={attempt.ended ?? attempt.started} />
        )
      ) : null}
    </span>
  );
}

function Facts({ task }: { task: Task }) {
  const done = task.subtasks.filter(({ completed }) => completed).length;
  const blockers = task.dependencies?.depends_on?.length ?? task.blockedBy?.length ?? 0;
  return (
    <span className={s.facts}>
      <span className={`${s.priority} ${s[task.priority] ?? ''}`} title={`Priority: ${priorityLabel[task.priority]}`}>
        <Icon name={task.priority} size={14} />
        <span className={task.priority === 'critical' ? undefined : 'sr'}>{priorityLabel[task.priority]}</span>
      </span>
      <span className="mono">{shortId(task.id)}</span>
      {task.project ? <span className="cut">{task.project}</span> : null}
      <span className="grow" />
      {task.actualCost ? <span className="num">{money(task.actualCost)}</span> : null}
      {blockers > 0 ? (
        <span className={s.fact} title={`Depends on ${count(blockers, 'task')}`}>
          <Icon name="link" size={13} />
          <span className="sr">depends on </span>
          {blockers}
        </span>
      ) : null}
      {task.subtasks.length > 0 ? (
        <span className={s.fact} title="Subtasks done">
          <Icon name="check" size={13} />
          <span className="sr">subtasks done </span>
          {done}/{task.subtasks.length}
        </span>
      ) : null}
      {!task.attempt && agentOf(task) ? <span className="cut">{agentOf(task)}</span> : null}
    </span>
  );
}

interface CardProps {
  task: Task;
  moved: boolean;
}

/** A task on the board: all of it is a link to the task. */
export const Card = memo(function Card({ task, moved }: CardProps) {
  return (
    <Link
      to="/tasks/$taskId"
      params={{ taskId: task.id }}
      preload={false}
      className={moved ? `${s.card} ${s.moved}` : s.card}
      data-card={task.id}
      draggable={false}
      aria-describedby="board-keys"
    >
      <span className={s.title}>{task.title}</span>
      <RunLine task={task} />
      {task.attempt?.cause ? (
        <span className="meta cut" title={task.attempt.cause}>
          {task.attempt.cause}
        </span>
      ) : null}
      <Facts task={task} />
    </Link>
  );
});
