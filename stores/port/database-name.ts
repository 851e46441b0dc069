/** The embedded database's file in its data directory. */
export const databaseName = 'runboard.sqlite';
