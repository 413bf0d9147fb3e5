export const handler = async (event: object): Promise<object> => ({...event, remind: true});
