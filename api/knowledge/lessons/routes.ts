import { z } from 'zod';
import { lessonList, lessonQuery, lessonTags } from '../../../contracts/knowledge/lesson';
import { listPage } from '../../../contracts/query';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import { countTags, lessonsOf, selectLessons } from './lessons';

const tag = 'lessons';
const read = { method: 'get' as const, tag, permission: 'task:read' };

const tagQuery = z.strictObject(listPage(1000, 1000));

/** What was learnt with active and archived tasks (specification 1, Mount list; gaps 10.18). */
export function lessonRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const lessons = () => lessonsOf(listAllTasks(board, ['active', 'archive']).map(({ task }) => task));

  routes.add(
    {
      ...read,
      path: '/lessons',
      operationId: 'listLessons',
      summary: 'List lessons of tasks, most recently updated first',
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
      summary: 'List lesson tags, most frequent first',
      query: tagQuery,
      response: lessonTags,
    },
    async ({ query }) => {
      const page = slicePage(countTags(lessons()), query, {
        positionOf: ({ count, tag: id }) => ({ key: -count, id }),
      });
      return page.answer({ data: page.items });
    },
  );
}
