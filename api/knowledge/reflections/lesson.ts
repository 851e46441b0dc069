import type { Reflection } from '../../../contracts/knowledge/reflection';
import { lessonsLimit, type Task } from '../../../contracts/tasks/task';
import { conflict } from '../../../platform/errors/app-error';

/** The fields of a task with its lessons. */
export type Lessons = Pick<Task, 'lessonsLearned' | 'lessonTags' | 'lessonSources'>;

/** A reviewed reflection as an item of a markdown list. */
function lessonText({ summary, correction, nextAttempt }: Reflection): string {
  const lines = [summary, correction && `Correction: ${correction}`, nextAttempt && `Next time: ${nextAttempt}`];
  const text = lines.filter(Boolean).join('\n');
  return `- ${text.replaceAll('\n', '\n  ')}`;
}

/**
 * The lessons of a task once the reflection counts. The task stores which reflections it has taken, in the same step, so that
 * one that is taken again changes nothing, whichever process died in between.
 *
 * @throws AppError 409 when the lessons of the task would be too long
 */
export function withLesson(task: Lessons, reflection: Reflection): Lessons {
  const { lessonsLearned, lessonTags = [], lessonSources = [] } = task;
  if (lessonSources.includes(reflection.id)) {
    return {};
  }
  const text = [lessonsLearned?.trimEnd(), lessonText(reflection)].filter(Boolean).join('\n');
  const tags = [...new Set([...lessonTags, ...reflection.tags])];
  const sources = [...lessonSources, reflection.id];
  if (text.length > lessonsLimit.length || tags.length > lessonsLimit.tags || sources.length > lessonsLimit.sources) {
    throw conflict('The lessons of the task are at their limit; shorten them first.', { ...lessonsLimit });
  }
  return { lessonsLearned: text, ...(tags.length > 0 && { lessonTags: tags }), lessonSources: sources };
}
