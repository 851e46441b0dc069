export const floorActivities = {
  async step(name: string): Promise<string> {
    return name;
  },
};

export type FloorActivities = typeof floorActivities;
