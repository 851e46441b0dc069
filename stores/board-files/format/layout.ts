import { type TaskLocation, taskLocation } from '../../../contracts/tasks/task';
import { slugOf } from './slug';

/** The folders of a board directory that hold task files. */
export const locations: readonly TaskLocation[] = taskLocation.options;

/** The folder beside them with the progress of each task, `<id>.md`. */
export const progressFolder = 'progress';

/** A task file relative to the board directory, e.g. `active/task_20260101_ab12cd-fix-login.md`. */
export type TaskPath = `${TaskLocation}/${string}`;

export const taskPath = (location: TaskLocation, name: string): TaskPath => `${location}/${name}`;

/** Splits a path into folder and file name. */
export function partsOf(path: TaskPath): { location: TaskLocation; name: string } {
  const slash = path.indexOf('/');
  const folder = path.slice(0, slash);
  return {
    location: locations.find((one) => one === folder) ?? taskLocation.parse(folder),
    name: path.slice(slash + 1),
  };
}

/** Hidden files are temporary files and editors' business. */
export const isTaskFileName = (name: string): boolean => name.endsWith('.md') && !name.startsWith('.');

/** The name a new or renamed file gets. It is for people: the identity is the `id` in the front matter. */
export function fileNameOf(task: { id: string; title: string }): string {
  const slug = slugOf(task.title);
  return slug ? `${task.id}-${slug}.md` : `${task.id}.md`;
}

/** Whether a file that cannot be read would by its name be the task `id`. */
export const nameSuggests = (name: string, id: string): boolean => name === `${id}.md` || name.startsWith(`${id}-`);
