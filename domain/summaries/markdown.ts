import type { Digest } from '../../contracts/system/digest';
import type { RecentSummary, Standup, SummarizedTask } from '../../contracts/system/summary';
import { cut } from '../../platform/text/cut';
import { markdownText } from '../../platform/text/markdown-text';
import { printable } from '../../platform/text/printable';

/** Renders texts of others: for markdown, or as plain lines. */
interface Style {
  heading: (text: string, level: number) => string;
  text: (text: string) => string;
}

const markdown: Style = { heading: (text, level) => `${'#'.repeat(level)} ${text}`, text: markdownText };
const plainText: Style = {
  heading: (text) => `${text}:`,
  text: (text) => printable(text).replace(/\s+/g, ' ').trim(),
};

const section = ({ heading }: Style, title: string, lines: readonly string[]): string =>
  `${heading(title, 2)}\n\n${lines.length === 0 ? 'Nothing.' : lines.map((line) => `- ${line}`).join('\n')}\n`;

const taskLine =
  ({ text }: Style) =>
  ({ id, title, project }: SummarizedTask): string =>
    `${text(title)} (${text(id)}${project === undefined ? '' : `, ${text(project)}`})`;

/** What the last hours brought, for the memory of an agent. */
export function memoryMarkdown(
  { completed, highPriorityActive, period }: RecentSummary,
  { inProgress, blocked }: Pick<Standup, 'inProgress' | 'blocked'>,
): string {
  const line = taskLine(markdown);
  return [
    `# The last ${period.hours} hours\n`,
    section(markdown, 'Completed', completed.map(line)),
    section(markdown, 'In progress', inProgress.map(line)),
    section(markdown, 'Blocked', blocked.map(line)),
    section(markdown, 'High priority', highPriorityActive.map(line)),
  ].join('\n');
}

/** A stand-up as markdown, or as plain text. */
export function renderStandup(standup: Standup, format: 'markdown' | 'text'): string {
  const style = format === 'markdown' ? markdown : plainText;
  const { date, completed, inProgress, blocked, upcoming, activity, stats } = standup;
  const line = taskLine(style);
  return [
    `${style.heading(`Stand-up of ${date}`, 1)}\n`,
    section(style, 'Completed', completed.map(line)),
    section(style, 'In progress', inProgress.map(line)),
    section(style, 'Blocked', blocked.map(line)),
    section(style, 'Upcoming', upcoming.map(line)),
    section(
      style,
      'Activity',
      activity.map(({ type, taskTitle = '', actor = '' }) => style.text(`${type} ${taskTitle} ${actor}`)),
    ),
    section(style, 'Numbers', [
      `${stats.tasksCompleted} tasks completed`,
      `${Math.round(stats.totalTimeTracked / 60)} minutes tracked`,
      `${stats.agentsActive} agents active`,
      `${stats.commentsAdded} comments added`,
    ]),
  ].join('\n');
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The numbers of a digest, by what they are. */
export const digestFacts = ({ tasks, runs, tokens }: Digest): [name: string, value: string][] => [
  ['Tasks completed', `${tasks.completed}`],
  ['Tasks created', `${tasks.created}`],
  ['In progress', `${tasks.inProgress}`],
  ['Blocked', `${tasks.blocked}`],
  ['Runs', `${runs.total}, ${percent(runs.successRate)} with success`],
  ['Failed runs', `${runs.failures}`],
  ['Tokens', `${tokens.totalTokens}`],
  ['Cost', `$${tokens.cost.toFixed(2)}`],
];

/** One line about a failed run, as it is: not escaped for any format. */
export const failureText = ({ title, taskId, agent, error }: Digest['issues']['failedRuns'][number]): string =>
  `${title ?? taskId} by ${agent}${error === undefined ? '' : `: ${cut(error, 200)}`}`;

/** A digest as markdown. */
export function digestMarkdown(digest: Digest, title: string): string {
  const { period, tasks, runs, issues } = digest;
  return [
    `# ${title}\n`,
    `${period.from ?? 'The beginning'} to ${period.to}\n`,
    section(
      markdown,
      'Numbers',
      digestFacts(digest).map(([name, value]) => `${name}: ${markdownText(value)}`),
    ),
    section(markdown, 'Completed', tasks.completedTitles.map(markdownText)),
    section(markdown, 'Blocked', tasks.blockedTitles.map(markdownText)),
    section(
      markdown,
      'Agents',
      runs.byAgent.map(
        ({ agent, runs: ended, successRate }) => `${markdownText(agent)}: ${ended} runs, ${percent(successRate)}`,
      ),
    ),
    section(
      markdown,
      'Failed runs',
      issues.failedRuns.map((failed) => markdownText(failureText(failed))),
    ),
  ].join('\n');
}
