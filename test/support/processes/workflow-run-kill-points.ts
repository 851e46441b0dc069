import { type KillPoints, killPoints } from './kill-points';

/**
 * Kills the service of workflow runs right before or after a step of a run: `<before|after> <activity> <input as JSON>`, or
 * `<before|after> append <event as JSON>`. Once a process has read a continuation, its steps match with `continued` in front too.
 *
 * @param dir of its own, and no service's
 */
export const workflowRunKillPoints = (dir: string): Promise<KillPoints> =>
  killPoints(dir, {
    program: /dist\/services\/workflow-runs\/main\.js$/,
    wrapped: `(() => {
      let continued = '';
      const at = (line) => [line, continued + line].forEach(step);
      const watched = (name, activity) => async (...args) => {
        at('before ' + name + ' ' + JSON.stringify(args[0]));
        const result = await activity(...args);
        if (name === 'loadContinuation') continued = 'continued ';
        at('after ' + name + ' ' + JSON.stringify(args[0]));
        return result;
      };
      return {
        createRunActivities: (create) => ({ events, ...dependencies }) => {
          const append = async (scope, entries) => {
            entries.forEach(({ event }) => at('before append ' + JSON.stringify(event)));
            const sequences = await events.append(scope, entries);
            entries.forEach(({ event }) => at('after append ' + JSON.stringify(event)));
            return sequences;
          };
          const activities = create({ ...dependencies, events: { append } });
          return Object.fromEntries(Object.entries(activities).map(([name, each]) => [name, watched(name, each)]));
        },
      };
    })()`,
  });
