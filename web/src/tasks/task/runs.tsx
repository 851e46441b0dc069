import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Task } from '../../api/client';
import { attemptState } from '../../runs/attempt-state';
import { attemptsQuery } from '../../runs/queries';
import { money } from '../../ui/figures';
import { Badge, Loaded, Panel } from '../../ui/parts';
import { Ago, Elapsed } from '../../ui/time';

/** The runs of a task, newest first. */
export function Runs({ task }: { task: Task }) {
  const query = useQuery(attemptsQuery(task.id));
  return (
    <Panel title="Runs" flush>
      <Loaded query={query} what="runs">
        {(attempts) =>
          attempts.length === 0 ? (
            <p className="meta body empty">No run yet. Press s to start one.</p>
          ) : (
            <ul className="rows">
              {attempts.map((attempt) => {
                const { label, tone, icon } = attemptState(attempt);
                return (
                  <li key={attempt.id}>
                    <Link
                      to="/tasks/$taskId/runs/$attemptId"
                      params={{ taskId: task.id, attemptId: attempt.id }}
                      className="row wrap"
                    >
                      <Badge tone={tone} icon={icon}>
                        {label}
                      </Badge>
                      <span>{attempt.agent}</span>
                      <span className="meta cut grow">
                        {attempt.id === task.attempt?.id && task.attempt.cause
                          ? task.attempt.cause
                          : (attempt.completion?.summary ?? attempt.refusal?.message ?? attempt.phase)}
                      </span>
                      <span className="meta row">
                        {attempt.usage && attempt.usage.cost > 0 ? money(attempt.usage.cost) : null}
                        {attempt.startedAt ? <Elapsed since={attempt.startedAt} until={attempt.endedAt} /> : null}
                        <Ago at={attempt.createdAt} />
                      </span>
                    </Link>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
