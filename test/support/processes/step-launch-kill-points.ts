import { type KillPoints, killPoints } from './kill-points';

/**
 * Kills a worker at a step of a launch for a workflow run: `before` or `after` with `startLaunch`, `observeLaunch`, `launch` (of the
 * agent), `put` (of the conversation that it continues) or `writeOutput`.
 *
 * @param dir of its own, and no service's
 */
export const stepLaunchKillPoints = (dir: string): Promise<KillPoints> =>
  killPoints(dir, {
    program: /dist\/worker\/main\.js$/,
    wrapped: `{
      createWriteActivities: (create) => (deps) => all(create(deps)),
      createStepLaunchActivities: (create) => ({ launch, conversations, ...others }) =>
        all(create({
          ...others,
          launch: around('launch', launch),
          conversations: { put: around('put', conversations.put) },
        })),
    }`,
  });
