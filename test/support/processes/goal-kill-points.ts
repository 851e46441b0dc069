import { type KillPoints, killPoints } from './kill-points';

/**
 * Kills a worker or an API at a step of a goal or a scheduled deliverable, such as `after settleGoal`, `before launch` or `before look`.
 *
 * @param dir of its own, and no service's
 */
export const goalKillPoints = (dir: string): Promise<KillPoints> =>
  killPoints(dir, {
    program: /dist\/(?:worker|api)\/main\.js$/,
    wrapped: `{
      createGoalActivities: (create) => ({ goals, launch, ...others }) =>
        all(create({ ...others, goals: { ...goals, change: around('change', goals.change) }, launch: around('launch', launch) })),
      createContinueRunActivities: (create) => ({ launch, ...others }) => all(create({ ...others, launch: around('launch', launch) })),
      createGoalLauncher: (create) => (...args) => all(create(...args)),
      createScheduledDeliverableActivities: (create) => ({ launch, board, ...others }) =>
        all(create({ ...others, board: { ...board, create: around('create', board.create) }, launch: around('launch', launch) })),
      createDeliverableSchedules: (create) => (...args) => all(create(...args)),
    }`,
  });
