import { lessonList, lessonQuery, lessonTags } from '../../contracts/lesson';
import type { Routes } from '../../platform/http/routes';
import type { ApiContext } from '../context';
import { everyTask } from '../tasks/every-task';
import { countTags, lessonsOf, selectLessons } from './lessons';

const tag = 'lessons';
const read = { method: 'get' as const, tag, permission: 'task:read' };

/** Tags that are named, at most. */
const mostTags = 1_000;

/** What was learnt with active and archived tasks (specification 1, Mount list; gaps 10.18). */
export function lessonRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const lessons = () => lessonsOf(everyTask(board, ['active', 'archive']).map(({ task }) => task));

  routes.add(
    {
      ...read,
      path: '/lessons',
      operationId: 'listLessons',
      summary: 'List what was learnt with tasks, the last changed first',
      query: lessonQuery,
      response: lessonList,
    },
    async ({ query }) => selectLessons(lessons(), query),
  );

  routes.add(
    {
      ...read,
      path: '/lessons/tags',
      operationId: 'listLessonTags',
      summary: 'List the tags of lessons, the most frequent first',
      response: lessonTags,
    },
    async () => ({ data: countTags(lessons()).slice(0, mostTags) }),
  );
}
