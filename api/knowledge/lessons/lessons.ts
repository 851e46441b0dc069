import type { Lesson, LessonList, LessonQuery } from '../../../contracts/knowledge/lesson';
import type { Task } from '../../../contracts/tasks/task';
import { compact } from '../../../platform/json/compact';
import type { PagedBody } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';

/** A lesson, and when its task was last changed. */
export interface Learnt {
  lesson: Lesson;
  updatedAt: string;
}

/** What the tasks have learnt. */
export function lessonsOf(tasks: readonly Task[]): Learnt[] {
  const learnt = tasks.filter(({ lessonsLearned }) => lessonsLearned !== undefined && lessonsLearned.trim() !== '');
  return learnt.map(({ id, title, project, sprint, lessonsLearned = '', lessonTags = [], status, updatedAt }) => ({
    updatedAt,
    lesson: {
      taskId: id,
      taskTitle: title,
      ...compact({ project, sprint }),
      lessonsLearned,
      lessonTags,
      ...(status === 'done' && { completedAt: updatedAt }),
    },
  }));
}

/** The lessons that match a query, the last changed first, one page of them (gaps 10.18). */
export function selectLessons(
  learnt: readonly Learnt[],
  query: LessonQuery,
): PagedBody<Omit<LessonList, 'nextCursor'>> {
  const { project, sprint, tag: tags = [], limit, offset } = query;
  const search = query.search?.toLowerCase();
  const matching = learnt.filter(
    ({ lesson: one }) =>
      (project === undefined || one.project === project) &&
      (sprint === undefined || one.sprint === sprint) &&
      tags.every((tag) => one.lessonTags.includes(tag)) &&
      (search === undefined || `${one.taskTitle}\n${one.lessonsLearned}`.toLowerCase().includes(search)),
  );
  const page = slicePage(matching, query, {
    positionOf: ({ updatedAt, lesson }) => ({ key: updatedAt, id: lesson.taskId }),
    direction: -1,
  });
  const data = page.items.map(({ lesson }) => lesson);
  const hasMore = page.next !== undefined;
  return page.answer({ data, pagination: { total: matching.length, limit, offset, hasMore } });
}

/** How many tasks have each tag, the most frequent first. */
export function countTags(learnt: readonly Learnt[]): { tag: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const tag of learnt.flatMap(({ lesson: { lessonTags } }) => [...new Set(lessonTags)])) {
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return [...counts]
    .map(([tag, count]) => ({ tag, count }))
    .sort((a, b) => b.count - a.count || a.tag.localeCompare(b.tag));
}
