package stores

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const replicaSet = "belfry"

// notInitiated is MongoDB's error code of a member whose replica set has not been initiated.
const notInitiated = 94

// mongodStore sets up the mongod on the PATH as a replica set of one, so that write concern majority works as in
// production.
func mongodStore(_ context.Context, at site) (store, error) {
	path, err := exec.LookPath("mongod")
	if err != nil {
		return store{}, err
	}
	port, folder, err := at.place("STORES_MONGO_PORT", "mongod")
	if err != nil {
		return store{}, err
	}
	uri := "mongodb://" + local(port) + "/?directConnection=true"
	return store{
		name:     "the document store (mongod)",
		mongoURI: uri,
		programs: []program{{name: "mongod", signal: syscall.SIGTERM, command: func() *exec.Cmd {
			argv := []string{"--dbpath", folder, "--bind_ip", "127.0.0.1", "--port", strconv.Itoa(port),
				"--replSet", replicaSet, "--nounixsocket"}
			if at.memory > 0 {
				argv = append(argv, "--wiredTigerCacheSizeGB", fmt.Sprintf("%.2f", float64(at.memory)/1024))
			}
			return exec.Command(path, argv...)
		}}},
		ready: func(ctx context.Context) error {
			if err := initiate(ctx, uri, local(port)); err != nil {
				return fmt.Errorf("making a replica set of mongod: %w", err)
			}
			return awaitMongo(ctx, uri)
		},
	}, nil
}

// initiate initiates the replica set, or changes the port of its only member to that of this run.
func initiate(ctx context.Context, uri, member string) error {
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return err
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is in progress on it
	admin := client.Database("admin")
	members := bson.A{bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: member}}}
	var current struct {
		Config struct {
			Version int64
			Members []struct{ Host string }
		}
	}
	err = admin.RunCommand(ctx, bson.D{{Key: "replSetGetConfig", Value: 1}}).Decode(&current)
	if refused, ok := errors.AsType[mongo.CommandError](err); ok && refused.Code == notInitiated {
		config := bson.D{{Key: "_id", Value: replicaSet}, {Key: "members", Value: members}}
		return admin.RunCommand(ctx, bson.D{{Key: "replSetInitiate", Value: config}}).Err()
	}
	if err != nil || len(current.Config.Members) == 1 && current.Config.Members[0].Host == member {
		return err
	}
	config := bson.D{{Key: "_id", Value: replicaSet}, {Key: "version", Value: current.Config.Version + 1},
		{Key: "members", Value: members}}
	return admin.RunCommand(ctx, bson.D{{Key: "replSetReconfig", Value: config}, {Key: "force", Value: true}}).Err()
}
