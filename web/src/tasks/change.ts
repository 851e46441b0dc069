import { useMutation } from '@tanstack/react-query';
import { board, isRefusal, type Schema, type Task, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { withTask } from '../live/apply';
import { toast } from '../ui/toast';

type Patch = Omit<Schema<'TaskPatch'>, 'expectedRevision'>;

interface Change {
  task: Task;
  patch: Patch;
}

/** Puts a task that the service has returned where it is shown. */
export function storeTask(task: Task): void {
  queryClient.setQueryData<Task[]>(keys.tasks, (list) => (list ? withTask(list, task) : list));
  queryClient.setQueryData<Task>(keys.task(task.id), task);
}

const latest = (task: Task): Task =>
  queryClient.getQueryData<Task[]>(keys.tasks)?.find(({ id }) => id === task.id) ??
  queryClient.getQueryData<Task>(keys.task(task.id)) ??
  task;

/** Shows a change before the service has confirmed it; the revision stays, so that what the service sends replaces it. */
function preview({ task, patch }: Change): Task {
  const before = latest(task);
  // A `null` of a change clears a field.
  const fields = Object.fromEntries(Object.entries(patch).map(([name, value]) => [name, value ?? undefined]));
  storeTask({ ...before, ...fields });
  return before;
}

/** The last change of each task that this page has sent. */
const lastChanges = new Map<string, Promise<Task>>();

/**
 * Sends a change after those of the same task that were made before it, so that a second one made meanwhile is no
 * conflict with the first.
 */
function sendChange({ task, patch }: Change): Promise<Task> {
  const before = (lastChanges.get(task.id) ?? Promise.resolve(task)).catch(() => task);
  const sent = before.then(({ revision }) =>
    unwrap(
      board.PATCH('/api/tasks/{taskId}', {
        params: { path: { taskId: task.id } },
        body: { ...patch, expectedRevision: Math.max(task.revision, revision) },
      }),
    ),
  );
  lastChanges.set(task.id, sent);
  return sent;
}

/** Changes fields of a task: shown at once, confirmed by the service, and put back with the reason when it refuses. */
export const useChangeTask = () =>
  useMutation({
    mutationFn: sendChange,
    onMutate: (change) => preview(change),
    onSuccess: (task) => storeTask(task),
    onError: (error, { task, patch }, before) => {
      if (before) {
        const fields = Object.fromEntries(Object.keys(patch).map((name) => [name, before[name as keyof Task]]));
        storeTask({ ...latest(task), ...fields });
      }
      void queryClient.invalidateQueries({ queryKey: keys.task(task.id) });
      if (isRefusal(error, 404, 409)) {
        void queryClient.invalidateQueries({ queryKey: keys.tasks });
      }
    },
  });

/** Deletes a task, with the way back. */
export const useDeleteTask = () =>
  useMutation({
    mutationFn: (task: Task) => unwrap(board.DELETE('/api/tasks/{taskId}', { params: { path: { taskId: task.id } } })),
    onSuccess: (_result, task) => {
      queryClient.setQueryData<Task[]>(keys.tasks, (list) => list?.filter(({ id }) => id !== task.id));
      toast(`Deleted “${task.title}”. It can be restored for 30 days.`, 'grey', {
        label: 'Restore',
        run: () =>
          void unwrap(board.POST('/api/tasks/{taskId}/restore', { params: { path: { taskId: task.id } } })).then(() =>
            queryClient.invalidateQueries({ queryKey: keys.tasks }),
          ),
      });
    },
  });
