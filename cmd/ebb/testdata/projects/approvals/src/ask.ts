export const handler = async (event: object): Promise<object> => ({...event, ask: true});
