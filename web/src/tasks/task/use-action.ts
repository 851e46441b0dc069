import { useMutation } from '@tanstack/react-query';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { storeTask } from '../change';
import { taskQuery } from '../queries';

/** Runs a request about a task, and shows the task as the service then has it. */
export const useTaskAction = (taskId: string) =>
  useMutation({
    mutationFn: (request: () => Promise<unknown>) => request(),
    onSettled: async () => {
      storeTask(await queryClient.query({ ...taskQuery(taskId), staleTime: 0 }));
      await queryClient.invalidateQueries({ queryKey: keys.dependencies(taskId) });
    },
  });
