/** Who changes the state of a goal when no caller does. */
export const goalSystem = 'system:goals';
