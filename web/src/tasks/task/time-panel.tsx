import { board, type Task, unwrap } from '../../api/client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { Panel } from '../../ui/parts';
import { duration, Elapsed } from '../../ui/time';
import { useTaskAction } from './use-action';

export function TimePanel({ task }: { task: Task }) {
  const why = useForbidden()('task:write');
  const action = useTaskAction(task.id);
  const params = { path: { taskId: task.id } };
  const { timeTracking: time } = task;
  const running = time?.isRunning === true ? time.entries.find(({ id }) => id === time.activeEntryId) : undefined;
  return (
    <Panel
      title="Time"
      actions={
        running ? (
          <Button
            small
            icon="stop"
            why={why}
            onClick={() => action.mutate(() => unwrap(board.POST('/api/tasks/{taskId}/time/stop', { params })))}
          >
            Stop the timer
          </Button>
        ) : (
          <Button
            small
            icon="clock"
            why={why}
            onClick={() => action.mutate(() => unwrap(board.POST('/api/tasks/{taskId}/time/start', { params })))}
          >
            Start the timer
          </Button>
        )
      }
    >
      <p>
        <span className="num">{duration((time?.totalSeconds ?? 0) * 1_000)}</span>{' '}
        <span className="meta">recorded</span>
        {running ? (
          <>
            , <Elapsed since={running.startTime} /> <span className="meta">running</span>
          </>
        ) : null}
      </p>
    </Panel>
  );
}
