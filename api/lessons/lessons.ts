import type { Lesson, LessonList, LessonQuery } from '../../contracts/lesson';
import type { Task } from '../../contracts/task';

/** What the tasks have learnt, the last changed first. */
export function lessonsOf(tasks: readonly Task[]): Lesson[] {
  const learnt = tasks.filter(({ lessonsLearned }) => lessonsLearned !== undefined && lessonsLearned.trim() !== '');
  return [...learnt]
    .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.id.localeCompare(b.id))
    .map(({ id, title, project, sprint, lessonsLearned = '', lessonTags = [], status, updatedAt }) => ({
      taskId: id,
      taskTitle: title,
      ...(project === undefined ? {} : { project }),
      ...(sprint === undefined ? {} : { sprint }),
      lessonsLearned,
      lessonTags,
      ...(status === 'done' && { completedAt: updatedAt }),
    }));
}

/** The lessons that a query asks for, one part of them (gaps 10.18). */
export function selectLessons(lessons: readonly Lesson[], query: LessonQuery): LessonList {
  const { project, sprint, tag: tags = [], limit, offset } = query;
  const search = query.search?.toLowerCase();
  const found = lessons.filter(
    (one) =>
      (project === undefined || one.project === project) &&
      (sprint === undefined || one.sprint === sprint) &&
      tags.every((tag) => one.lessonTags.includes(tag)) &&
      (search === undefined || `${one.taskTitle}\n${one.lessonsLearned}`.toLowerCase().includes(search)),
  );
  const data = found.slice(offset, offset + limit);
  return { data, pagination: { total: found.length, limit, offset, hasMore: offset + data.length < found.length } };
}

/** How many tasks have each tag, the most frequent first. */
export function countTags(lessons: readonly Lesson[]): { tag: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const tag of lessons.flatMap(({ lessonTags }) => [...new Set(lessonTags)]))
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .map(([tag, count]) => ({ tag, count }))
    .sort((a, b) => b.count - a.count || a.tag.localeCompare(b.tag));
}
